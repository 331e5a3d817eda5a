"""The user's own workload: a TOML file with a database and SQL becomes a catalogue to measure.

`file` models the TOML · `template` writes one to begin with · `trace` groups the statements of a
trace into queries · `database` copies the user's database, or a part of it · `statements` asks
SQLite what each statement reads and writes · `parts` are the queries with their values, as steps ·
`replay` has a trace's requests as they were recorded · `scenarios` measure each alone and all as a
mix.

Imports: vocabulary, machine, catalog.
"""
