"""Inference on timings: arrays in, frozen dataclasses out; numpy only.

What a sample is: `warmup` when a process is steady, `allocation` how much of it to measure, `probe`
whether the machine was disturbed. What samples say: `distributions` quantiles and tails, `estimate`
medians and trimmed means, `sessions` several sittings, `unpaired` two runs, `spread` robust
deviations. What may be concluded: `multiplicity` p-values and corrections, `grade` the canary's
noise, `verdict` words, `power` what could have been found, `relabel` how often all this errs.

Imports: vocabulary.
"""
