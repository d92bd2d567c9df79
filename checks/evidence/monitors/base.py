"""What a monitor is: it looks at events in their order, remembers a few integers, and names what is wrong.

A monitor reads only the columns that it names, and only events of its kinds, so that it costs about a
microsecond an event. Its memory can be written down as JSON and taken up again (``--follow``), and the
answers of monitors that saw different channels can be joined (Spark).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

from tidemark.checks.evidence.table.schema import LARGEST, physical

DUMP = "etcd.snapshot"
"""Kind of the event that says that a source has the last value of each key only."""
SHOWN = 5
"""Breaches that are kept in full; the others are counted."""


@dataclass(frozen=True)
class Place:
    """An event that a breach points to."""

    source: str
    line: int
    shown: str
    """What it says, in short."""

    def __str__(self) -> str:
        return f"{self.source}:{self.line} {self.shown}"


@dataclass(frozen=True)
class Breach:
    """One violation: what was known before, and the event that does not fit."""

    sentence: str
    places: tuple[Place, ...]
    """In order; the last one is the event that does not fit."""
    key: str = ""
    """Channel, segment or session."""


@dataclass
class Answer:
    """What a monitor says about one claim."""

    monitor: str
    property_id: str
    events: int = 0
    """Events that were compared with something; none means that nothing was judged."""
    broken: int = 0
    breaches: list[Breach] = field(default_factory=list)
    reports: dict[str, int] = field(default_factory=dict)
    """Sentence -> how often: worth knowing, and no violation."""
    unsure: dict[str, int] = field(default_factory=dict)
    """Reason -> how often: what could not be decided."""
    left_out: list[str] = field(default_factory=list)
    """Why the events of some files were not judged: their order, or what is missing between them."""
    kept: int = 0
    """So many breaches are kept in full, if that is more than ``SHOWN``."""

    def breach(self, sentence: str, *places: Place, key: str = "") -> None:
        """Something is wrong."""
        self.broken += 1
        if len(self.breaches) < max(SHOWN, self.kept):
            self.breaches.append(Breach(sentence, places, key))

    def report(self, sentence: str, *, times: int = 1) -> None:
        """Something is worth knowing."""
        self.reports[sentence] = self.reports.get(sentence, 0) + times

    def doubt(self, reason: str, count: int = 1) -> None:
        """Something could not be decided."""
        self.unsure[reason] = self.unsure.get(reason, 0) + count

    def add(self, other: Answer) -> None:
        """Join the answer of the same monitor about other channels."""
        self.events += other.events
        self.broken += other.broken
        self.breaches = sorted(
            [*self.breaches, *other.breaches], key=lambda b: (b.places[-1].source, b.places[-1].line, b.key)
        )[:SHOWN]
        for mine, theirs in ((self.reports, other.reports), (self.unsure, other.unsure)):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Answer:
        """The inverse of ``as_dict``."""
        breaches = [
            Breach(one["sentence"], tuple(Place(**place) for place in one["places"]), one["key"])
            for one in given["breaches"]
        ]
        return cls(**{**given, "breaches": breaches})


class Monitor(ABC):
    """A judge of one claim over events in order."""

    name: ClassVar[str]
    property_id: ClassVar[str]
    """The claim of the specification from which it is derived."""
    rule: ClassVar[str]
    """What it looks at, in one sentence."""
    kinds: ClassVar[tuple[str, ...]]
    """Kinds of event that it reads."""
    needs: ClassVar[tuple[str, ...]]
    """Without an event of each of these kinds nothing can be judged; if empty, one of ``kinds`` is enough. By
    default the kind, if there is one."""
    columns: ClassVar[tuple[str, ...]]
    by: ClassVar[str] = ""
    """Column by which the events may be dealt out; empty if it has to see all of them."""
    within: ClassVar[str] = "line"
    """``line``: the order is that of the store or broker. ``source``: of each file by itself. ``store``: all
    of the store's events, kind by kind from the last in the alphabet on, then the broker's."""
    one_by_one: ClassVar[bool] = False
    """It judges each event by itself, so that the order of lines does not matter."""
    of_state: ClassVar[bool] = False
    """It looks at the last value of each key of the store: a dump is enough."""
    excused_by: ClassVar[tuple[str, ...]] = ()
    """Kinds of event that justify what would be a breach without them: if a line of a log, or a revision of
    the store, is missing that may have been one, a breach shows nothing."""

    @classmethod
    def final(cls) -> bool:
        """Does a violation stay one, whatever event comes later? The lines of a log may turn out to be in
        disorder, a catalogue may follow the other, and what justifies an event may still come.
        """
        return not (cls.of_state or cls.excused_by) and (cls.one_by_one or cls.within == "line")

    def __init_subclass__(cls) -> None:
        if len(getattr(cls, "kinds", ())) == 1 and "needs" not in vars(cls):
            cls.needs = cls.kinds

    def __init__(self) -> None:
        self.answer = Answer(self.name, self.property_id)

    @classmethod
    def lacks(cls, present: Collection[str]) -> list[str]:
        """Kinds of event without which there is nothing to judge; none if there is."""
        if DUMP in present and not cls.of_state and any(kind.startswith("etcd.") for kind in cls.kinds):
            return ["etcd.* of a whole history (a dump has only last values)"]
        missing = [kind for kind in cls.needs if kind not in present]
        return missing or ([] if any(kind in present for kind in cls.kinds) else [*cls.kinds])

    def feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Look at the next events: tuples of the named columns, in order."""
        self._feed(rows)

    @abstractmethod
    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """What each monitor does with them."""

    def close(self) -> Answer:
        """The answer, when there are no more events. May be called again after more events."""
        return self.answer

    def state(self) -> dict[str, Any]:
        """What it remembers, as JSON can hold it."""
        return {name: freeze(value) for name, value in vars(self).items() if name != "answer"} | {
            "answer": self.answer.as_dict()
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what ``state`` gave."""
        for name, value in state.items():
            setattr(self, name, Answer.from_dict(value) if name == "answer" else thaw(value))


class LogMonitor(Monitor):
    """A monitor of the lines of each file by itself."""

    by = "source"
    within = "source"


def freeze(value: Any) -> Any:
    """Maps with any keys, sets and tuples in a form that JSON keeps apart."""
    if isinstance(value, dict):
        return {"map": [[freeze(key), freeze(item)] for key, item in value.items()]}
    if isinstance(value, Place):
        return {"place": [value.source, value.line, value.shown]}
    if isinstance(value, set | frozenset):
        return {"set": [freeze(item) for item in sorted(value)]}
    if isinstance(value, tuple):
        return {"tuple": [freeze(item) for item in value]}
    if isinstance(value, list):
        return [freeze(item) for item in value]
    return value


def thaw(value: Any) -> Any:
    """The inverse of ``freeze``."""
    if isinstance(value, list):
        return [thaw(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((form, given),) = value.items()
    if form == "map":
        return {thaw(key): thaw(item) for key, item in given}
    if form == "place":
        return Place(*given)
    items = (thaw(item) for item in given)
    return set(items) if form == "set" else tuple(items)


def shown(ts: int) -> str:
    """A hybrid timestamp as a time, for people, with the number."""
    if ts >= LARGEST:
        return "the largest timestamp"
    if ts < 1 << 30:
        return str(ts)
    try:
        at = datetime.fromtimestamp(physical(ts) / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(ts)
    return f"{at:%H:%M:%S}.{at.microsecond // 1000:03d} ({ts})"


def seconds(later: int, earlier: int) -> str:
    """The distance of two hybrid timestamps."""
    return f"{(physical(later) - physical(earlier)) / 1000:.3f} s"
