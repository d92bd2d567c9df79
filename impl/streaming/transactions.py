"""The transactions of a term: the open ones, their bodies under way, and their expiry.

The log is the truth: a term finds the open ones in it. Ticks are the clock. An append is refused if a reader
would leave it out, or deliver it in part.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidemark.impl.errors import TransactionBusyError, TransactionOverError
from tidemark.impl.streaming.assembly import Assembled
from tidemark.impl.streaming.transaction_messages import Part, TransactionId
from tidemark.impl.streaming.values import Append
from tidemark.impl.timestamp import ZERO, Timestamp


@dataclass
class Transaction:
    """An open transaction.

    Attributes:
        until: a tick that reaches this timestamp ends it.
        begun: the place of its begin; 0 while that is under way.
        under_way: bodies whose appends have not ended.
        ends: a commit or a rollback is under way or in the log: no other message is taken.
        commit: the timestamp of a commit that is in the log; 0 without one.
    """

    until: Timestamp
    begun: int = 0
    under_way: set[Append] = field(default_factory=set)
    ends: bool = False
    commit: Timestamp = ZERO

    @property
    def over_at(self) -> Timestamp:
        """A tick that reaches this timestamp makes readers forget it."""
        return self.commit or self.until


class Transactions:
    """The open transactions of one term, by number; a committed one is kept until a tick has reached it.

    Args:
        found: those that are open in the log.
    """

    def __init__(self, found: Mapping[TransactionId, Assembled]) -> None:
        self.kept = {number: Transaction(one.until, one.begun) for number, one in found.items()}

    # Of an append, in this order.

    def admit(self, append: Append) -> None:
        """Take an append before it has a timestamp. Raise TransactionOverError, TransactionBusyError."""
        if append.part in (None, Part.BEGIN):
            return
        one = self.kept.get(append.transaction)
        if one is None or one.ends or not one.begun:
            raise TransactionOverError(f"transaction {append.transaction} is not open; begin a new one")
        if append.part is Part.BODY:
            one.under_way.add(append)
            return
        if one.under_way:  # nothing may come behind a commit
            raise TransactionBusyError(
                f"transaction {append.transaction} has {len(one.under_way)} bodies under way; wait for them"
            )
        one.ends = True

    def stamped(self, append: Append) -> None:
        """An append has its timestamp, and is sent next. Raise TransactionOverError: it is too late."""
        if append.part is Part.BEGIN:
            self.kept[append.ts] = Transaction(append.ts + append.lasts)
        elif append.part is Part.COMMIT and not self._is_in_time(append):
            raise TransactionOverError(
                f"transaction {append.transaction} has lasted too long; begin a new one, for a longer time"
            )

    def _is_in_time(self, append: Append) -> bool:
        """A commit is not later than the expiry. An expired transaction is removed."""
        one = self.kept.get(append.transaction)
        return one is not None and append.ts <= one.until

    def landed(self, append: Append, place: int) -> None:
        """An append is in the log."""
        one = self.kept.get(append.ts if append.part is Part.BEGIN else append.transaction)
        if one is None:
            return
        if append.part is Part.BEGIN:
            one.begun = place
        elif append.part is Part.BODY:
            one.under_way.discard(append)
        elif append.part is Part.COMMIT:
            one.commit = append.ts
        else:
            del self.kept[append.transaction]

    def failed(self, append: Append) -> None:
        """An append is not in the log and will never be."""
        one = self.kept.get(append.transaction)
        if append.part is Part.BEGIN:
            self.kept.pop(append.ts, None)
        elif one is not None and append.part is Part.BODY:
            one.under_way.discard(append)
        elif one is not None:
            one.ends = False

    # Ticks.

    def ticked(self, tick: Timestamp) -> None:
        """A tick is in the log: it ends expired transactions. A commit that is under way is later."""
        self.kept = {number: one for number, one in self.kept.items() if not self._is_over(one, tick)}

    def _is_over(self, one: Transaction, tick: Timestamp) -> bool:
        return one.over_at <= tick

    def earliest(self, tick: Timestamp) -> int | None:
        """The place of the first begin that readers of this tick need; None without one."""
        return min(
            (one.begun for one in self.kept.values() if one.begun and one.over_at > tick), default=None
        )
