"""What every room shares: the contract, words of verdicts, errors, places, nouns.

Imports: nothing.
"""
