"""The user's own workload: a TOML file with a database and SQL becomes a catalogue to measure.

`file` models the TOML, `limits` what runners keep to · `tracefile` reads a trace, whose statements
`trace` groups into queries · `database` copies the user's database, which nothing writes, or a
`sample` of it, and `about` says what it is · `statements` asks SQLite what each statement reads and
writes, `answers` what it gives · `pools` draws parameters, from lists, generators or queries on the
database · `writes` says how written tables are reset and read back · `parts` are its queries,
`scenarios` puts them together, `latencies` times its rounds · `prepared` is what a session needs of
it · `template` writes a file to begin with.

Imports: vocabulary, machine, catalog.
"""
