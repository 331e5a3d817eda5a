"""`python -m sqlitmus`."""

from sqlitmus.cli import main

main()
