"""Runs several processes of one runner as one invocation: split, released together, combined."""
