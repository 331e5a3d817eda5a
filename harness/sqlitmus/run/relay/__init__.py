"""Runners of a case alive at once, which take turns: what slows the machine down meets them all."""
