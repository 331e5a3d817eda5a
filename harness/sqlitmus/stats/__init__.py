"""Inference on timings: arrays in, frozen dataclasses out; numpy only.

`estimate` medians, trimmed means, quantiles and sessions · `verdict` p-values, corrections,
verdicts, and what holds of many at once · `expectation` what was published, held against what is
measured · `power` which differences can be found · `warmup` when a process is steady.

Imports: vocabulary.
"""
