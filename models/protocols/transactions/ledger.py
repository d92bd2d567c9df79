"""What a term knows of its transactions, by itself: each call in each state of a transaction.

What is taken and refused, and where readers have to begin, is reckoned from the calls before.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from tidemark.impl.errors import TransactionBusyError, TransactionOverError
from tidemark.impl.streaming.assembly import Assembled
from tidemark.impl.streaming.transaction_messages import Part
from tidemark.impl.streaming.transactions import Transactions
from tidemark.impl.streaming.values import Append
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

TAKEN = "a_term_takes_what_a_reader_delivers"
"""Claim id: a body, a commit or a rollback is taken while its transaction is open and nothing ends it; a
commit waits for the bodies, and is not later than the transaction may last."""
KNOWN = "a_transaction_is_known_until_readers_forget_it"
"""Claim id: a transaction is kept from the timestamp of its begin until its rollback, or a tick that reaches
its commit or its end; of those that are in the log the first begin tells where readers of a tick begin."""

_BEGIN, _BODY, _COMMIT, _ROLLBACK = Part.BEGIN, Part.BODY, Part.COMMIT, Part.ROLLBACK


def _open(name: str, ts: int, lasts: int, place: int) -> list[tuple[Any, ...]]:
    return [("admit", name, _BEGIN, 0, lasts), ("stamped", name, ts), ("landed", name, place)]


def _whole(name: str, part: Part, number: int, ts: int, place: int) -> list[tuple[Any, ...]]:
    return [("admit", name, part, number), ("stamped", name, ts), ("landed", name, place)]


SCRIPTS: tuple[Script, ...] = (
    # A transaction from its begin to its commit, beside a message of none.
    {
        "calls": [
            *_open("b", 10, 50, 3),
            *_whole("m", _BODY, 10, 12, 4),
            ("admit", "n", None, 0),
            ("stamped", "n", 13),
            ("landed", "n", 5),
            ("tick", 20),
            *_whole("c", _COMMIT, 10, 25, 6),
            ("admit", "x", _BODY, 10),
            ("admit", "y", _COMMIT, 10),
            ("tick", 24),
            ("tick", 25),
            ("admit", "z", _BODY, 10),
        ]
    },
    # A rollback; a number that was never given; a begin that is under way.
    {
        "calls": [
            *_open("b", 10, 50, 3),
            *_whole("r", _ROLLBACK, 10, 15, 4),
            ("admit", "x", _BODY, 10),
            ("admit", "y", _COMMIT, 99),
            ("admit", "c", _BEGIN, 0, 5),
            ("stamped", "c", 30),
            ("admit", "z", _BODY, 30),
            ("admit", "v", _ROLLBACK, 30),
            ("tick", 34),
            ("landed", "c", 9),
            ("admit", "w", _BODY, 30),
            ("tick", 35),
            ("landed", "w", 10),
        ]
    },
    # Bodies that are under way, and how they end.
    {
        "calls": [
            *_open("b", 10, 50, 3),
            ("admit", "m", _BODY, 10),
            ("admit", "n", _BODY, 10),
            ("stamped", "m", 11),
            ("admit", "c", _COMMIT, 10),
            ("landed", "m", 4),
            ("admit", "d", _ROLLBACK, 10),
            ("failed", "n"),
            ("admit", "e", _COMMIT, 10),
            ("admit", "o", _BODY, 10),
            ("failed", "e"),
            ("admit", "p", _BODY, 10),
            ("failed", "p"),
            ("admit", "f", _ROLLBACK, 10),
            ("failed", "f"),
            ("admit", "g", _COMMIT, 10),
            ("stamped", "g", 60),
            ("landed", "g", 8),
            ("tick", 59),
            ("tick", 60),
        ]
    },
    # A body of another transaction holds up no commit; one that has failed frees no other.
    {
        "calls": [
            *_open("b", 10, 50, 3),
            *_open("c", 20, 50, 4),
            ("admit", "m", _BODY, 10),
            ("admit", "n", _BODY, 10),
            ("admit", "d", _COMMIT, 20),
            ("failed", "m"),
            ("admit", "e", _COMMIT, 10),
        ]
    },
    # Begins that fail, and ends that come too late.
    {
        "calls": [
            ("admit", "b", _BEGIN, 0, 20),
            ("stamped", "b", 10),
            ("failed", "b"),
            ("admit", "x", _BODY, 10),
            *_open("c", 30, 20, 5),
            ("admit", "d", _COMMIT, 30),
            ("stamped", "d", 51),
            ("failed", "d"),
            ("admit", "e", _COMMIT, 30),
            ("stamped", "e", 50),
            ("landed", "e", 6),
            ("tick", 50),
            ("failed", "x"),
            ("landed", "e", 6),
        ]
    },
    {
        "calls": [
            *_open("c", 30, 20, 5),
            ("admit", "d", _COMMIT, 30),
            ("tick", 50),
            ("stamped", "d", 45),
            ("failed", "d"),
            *_open("f", 60, 20, 7),
            ("admit", "r", _ROLLBACK, 60),
            ("tick", 80),
            ("stamped", "r", 85),
            ("landed", "r", 8),
            ("failed", "b0"),
        ]
    },
    # Several at once, and those that an earlier term has left.
    {
        "found": {4: (40, 2), 6: (25, 1)},
        "calls": [
            *_open("b", 30, 5, 7),
            ("tick", 24),
            *_whole("c", _COMMIT, 4, 33, 8),
            ("tick", 25),
            ("tick", 33),
            *_open("d", 36, 9, 9),
            ("tick", 35),
            ("admit", "e", _BODY, 6),
            ("tick", 45),
        ],
    },
)


@dataclass
class Facts:
    """One transaction, as the calls have told. bodies: those that have not ended. place: of its begin."""

    until: int
    place: int = 0
    bodies: list[str] = field(default_factory=list)
    ending: bool = False
    commit: int = 0


@dataclass
class Reckoning:
    """The transactions by number, and of each append its part, its transaction, how long it may last."""

    kept: dict[int, Facts] = field(default_factory=dict)
    appends: dict[str, tuple[Part | None, int, int]] = field(default_factory=dict)

    def admit(self, name: str, part: Part | None, number: int, lasts: int = 0) -> str:
        """The error that is due, or nothing."""
        self.appends[name] = (part, number, lasts)
        if part in (None, _BEGIN):
            return ""
        known = self.kept.get(number)
        if known is None or known.ending or known.place == 0:
            return "TransactionOverError"
        if part is not _BODY and known.bodies:
            return "TransactionBusyError"
        if part is _BODY:
            known.bodies.append(name)
        else:
            known.ending = True
        return ""

    def stamped(self, name: str, ts: int) -> str:
        """Likewise."""
        part, number, lasts = self.appends[name]
        if part is _BEGIN:
            self.kept[ts] = Facts(ts + lasts)
            self.appends[name] = (part, ts, lasts)
        late = number not in self.kept or ts > self.kept[number].until
        return "TransactionOverError" if part is _COMMIT and late else ""

    def landed(self, name: str, place: int, ts: int) -> str:
        """An append is in the log."""
        part, number, _ = self.appends[name]
        known = self.kept.get(number)
        if known is not None and part is _BEGIN:
            known.place = place
        elif known is not None and part is _BODY:
            known.bodies.remove(name)
        elif known is not None and part is _COMMIT:
            known.commit = ts
        elif part is _ROLLBACK:
            self.kept.pop(number, None)
        return ""

    def failed(self, name: str) -> str:
        """An append will never be there."""
        part, number, _ = self.appends[name]
        known = self.kept.get(number)
        if part is _BEGIN:
            self.kept.pop(number, None)
        elif known is not None and part is _BODY:
            known.bodies = [one for one in known.bodies if one != name]
        elif known is not None:
            known.ending = False
        return ""

    def tick(self, ts: int) -> str:
        """What has lasted until then is over."""
        for number in [n for n, one in self.kept.items() if (one.commit or one.until) <= ts]:
            del self.kept[number]
        return ""

    def first(self, tick: int) -> int | None:
        """Where readers of a tick begin at the latest."""
        places = [one.place for one in self.kept.values() if one.place and (one.commit or one.until) > tick]
        return min(places) if places else None


class LedgerProgram(ComparedProgram):
    """The transactions of one term, and who calls."""

    async def live(self, process: Process) -> None:
        """Make them, and call."""
        self._appends: dict[str, Append] = {"b0": Append("channel", part=_BEGIN)}
        found = self.script.get("found", {})
        self._right = Reckoning({number: Facts(*one) for number, one in found.items()})
        self._right.appends["b0"] = (_BEGIN, 0, 0)
        self._real = Transactions(
            {number: Assembled(until=until, begun=place) for number, (until, place) in found.items()}
        )
        self._done = 0
        self.begun = True
        for call in self.script["calls"]:
            await process.point("call")
            self._compare(call, TAKEN, self._called(call), self._reckoned(call))
            self._compare(call, KNOWN, self._kept(), {n: vars(one) for n, one in self._right.kept.items()})
            for tick in (0, 24, 25, 33, 34, 35, 44, 49, 50, 59, 60, 80):
                self._compare((*call, tick), KNOWN, self._real.earliest(tick), self._right.first(tick))
            self._done += 1
            await self.halt_if_wrong()

    def _called(self, call: tuple[Any, ...]) -> str:
        try:
            self._call(*call)
        except (TransactionBusyError, TransactionOverError) as refused:
            return type(refused).__name__
        return ""

    def _call(self, how: str, name: Any, *asked: Any) -> None:
        match how, asked:
            case "admit", (part, number, *lasts):
                self._appends[name] = Append("channel", part=part, transaction=number, lasts=sum(lasts))
                self._real.admit(self._appends[name])
            case "stamped", (ts,):
                self._appends[name].ts = ts
                self._real.stamped(self._appends[name])
            case "landed", (place,):
                self._real.landed(self._appends[name], place)
            case "failed", ():
                self._real.failed(self._appends[name])
            case _:
                self._real.ticked(name)

    def _reckoned(self, call: tuple[Any, ...]) -> str:
        how, name, *asked = call
        if how == "landed":
            return self._right.landed(name, int(asked[0]), self._appends[name].ts)
        found: str = getattr(self._right, how)(name, *asked)
        return found

    def _kept(self) -> dict[int, Any]:
        names = {id(append): name for name, append in self._appends.items()}
        return {
            number: {"until": one.until, "place": one.begun, "ending": one.ends, "commit": one.commit,
                     "bodies": sorted(names[id(body)] for body in one.under_way)}
            for number, one in self._real.kept.items()
        }  # fmt: skip

    def _compare(self, call: tuple[Any, ...], claim: str, found: object, due: object) -> None:
        self.compare(claim, f"after {call}", found, due)

    # What is looked at.

    def look(self) -> Hashable:
        """How many calls were made."""
        return self._done

    def wrong_at_the_end(self) -> str | None:
        """All calls were made."""
        return (
            None if self._done == len(self.script["calls"]) else f"{TAKEN}: call {self._done} does not return"
        )


def ledger() -> LedgerProgram:
    """Return the program of all scripts."""
    return LedgerProgram(SCRIPTS, timers=0)
