"""Inference on timings: arrays in, frozen dataclasses out; numpy only, nothing else of ours.

`distributions` quantiles · `estimate` medians and trimmed means · `verdict` what an interval allows
to be said · `power` how many blocks would settle it. Corrections for many comparisons, the noise
grade and warm-up detection belong here too, as modules of their own.
"""
