"""What every room shares: the contract, figures, words of verdicts, errors, places, texts.

Imports: nothing.
"""
