"""Set-up: brings the toolchain of this clone into being, then hands over to `just`.

Standard library only, since it runs before anything is installed.
Run as `python3 harness/bootstrap`.
"""
