"""What analysis found, as data; `render` and `export` read it.

`report` one run, `comparisons` its pairs, `conditions` what it was made under · `claims` published
claims in it · `machines` several machines · `headline` and `notices` what a report says first ·
`estimate` a figure with its interval · `summary` a report as JSON and back.

Imports: vocabulary.
"""
