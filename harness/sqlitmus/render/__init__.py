"""Results → pages: what to show is decided in `document`, how in `html`, `markdown`, `terminal`.

Imports: vocabulary, results.
"""
