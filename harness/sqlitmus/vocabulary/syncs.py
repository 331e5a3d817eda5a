"""What the transactions of a write cell made durable, as counted from outside the runner."""

from sqlitmus.vocabulary.contract.model import Model, Natural, Positive


class Syncs(Model):
    """Calls of `fsync` and `fdatasync` that succeeded on the database's files or their folder, and
    bytes written to these files, by so many `transactions` alone.
    """

    transactions: Positive
    fsync: Natural
    fdatasync: Natural
    bytes: Natural

    @property
    def per_transaction(self) -> float:
        """Calls of either kind: SQLite was built to use the one or the other."""
        return (self.fsync + self.fdatasync) / self.transactions

    def calls(self) -> str:
        """`4 fsync`, `1 fdatasync`, `no sync`: those of one transaction."""
        counts = {"fsync": self.fsync, "fdatasync": self.fdatasync}
        calls = [f"{self._each(count)} {name}" for name, count in counts.items() if count]
        return " + ".join(calls) or "no sync"

    def words(self) -> str:
        """`4 fsync, 24.7 kB`: calls and bytes of one transaction."""
        return f"{self.calls()}, {self._each(self.bytes / 1000)} kB"

    def _each(self, total: float) -> str:
        share = total / self.transactions
        return f"{share:.3g}" if share < 1000 else f"{share:,.0f}"


def durability(syncs: Syncs | None, uncounted: str | None) -> str:
    """What a write cell makes durable, why that is not known, or nothing of one without either."""
    if syncs:
        return f"{syncs.words()} per transaction"
    return f"not counted: {uncounted}" if uncounted else ""
