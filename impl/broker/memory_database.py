"""Tables in memory, for sessions that need not outlive their process."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from tidemark.impl.storage.transactions import Row


class MemoryDatabase:
    """Tables in memory, which exist as long as this object. Closing it rolls back."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """See Database."""
        return self._connection.execute(statement, values).fetchall()

    async def close(self) -> None:
        """See Database."""
        if self._connection.in_transaction:
            self._connection.rollback()
