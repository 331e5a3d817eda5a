"""Measures what is planned: `agenda` orders the cells, `blocks` measures and saves them.

Imports: processes, verify.
"""
