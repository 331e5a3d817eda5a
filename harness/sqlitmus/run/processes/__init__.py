"""Several processes of one runner as one invocation: shared out, released together, combined."""
