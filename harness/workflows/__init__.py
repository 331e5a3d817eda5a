"""The workflows of `.github/workflows`, read for the tests and rehearsed on this machine."""
