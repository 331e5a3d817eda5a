"""Inference on timings: arrays in, frozen dataclasses out; numpy only.

Samples: `warmup` finds when a process is steady, `allocation` how much to measure, `probe` whether
the machine was disturbed. Estimates: `distributions` quantiles and tails, `estimate` medians and
trimmed means, `sessions` several sessions, `unpaired` two runs, `spread` robust deviations.
Decisions: `multiplicity` p-values and corrections, `grade` the canary's noise, `verdict` verdicts,
`groups` means over cases and what holds of all of them at once, `claim` published ratios, `power`
detectable differences, `relabel` with its `experiments` and `equals` the error rates of all this,
`efficiency` which way of measuring needs less time.

Imports: vocabulary.
"""
