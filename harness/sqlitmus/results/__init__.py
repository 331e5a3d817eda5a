"""What analysis found, as data; `render` and `export` read it.

`report` one run · `ranking` figures with intervals, contrasts, and who is ahead by them ·
`recommendation` the decisions and the advice · `claims` what others published · `machines` several
machines, and all of it as JSON.

Imports: vocabulary.
"""
