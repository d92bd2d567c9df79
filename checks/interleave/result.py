"""What a search found, and how results of parts are put together in any order."""

import hashlib
import zlib
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import NamedTuple

from tidemark.checks.interleave.trees.work import WorkItem
from tidemark.models.simulation import CLOSED_WORLD, Violation


class Status(StrEnum):
    """What may be claimed."""

    EXHAUSTED = "exhausted"
    """Every interleaving within the bounds is covered, and nothing is wrong."""
    REFUTED = "refuted"
    UNEXPLORABLE = "cannot be explored"
    """The program uses what the simulation refuses (a thread, a socket, a real clock): nothing is known of
    it."""
    INCONCLUSIVE = "inconclusive"


@dataclass(slots=True)
class Statistics:
    """Work done. Sums over parts, except where said otherwise."""

    executions: int = 0
    """Complete and violating executions. With the reduction, one for each Mazurkiewicz trace."""
    blocked: int = 0
    """Executions given up because everything enabled was asleep: the price of sleep sets."""
    merged: int = 0
    """Executions given up because they met a declared state that was reached before."""
    joined: int = 0
    """Times that an execution has gone on from such a state, by an event that was not taken there."""
    cut: int = 0
    """Executions that reached the limit of steps."""
    timer_bounded: int = 0
    """Executions in which the declared number of timer firings was used up."""
    steps: int = 0
    visible_steps: int = 0
    deepest: int = 0
    """Length of the longest execution. The maximum over parts."""
    checked_again: int = 0
    """Executions that were run twice to see that they are deterministic."""
    audited: int = 0
    """Random executions whose outcomes the search had to explain."""
    commuting: int = 0
    """Pairs of steps, independent by their footprints, that were run in both orders with the same end."""

    @property
    def met_again(self) -> int:
        """How often an execution has come to a state that was reached before."""
        return self.merged + self.joined

    def add(self, other: "Statistics") -> None:
        """Add the work of another part."""
        for item in fields(self):
            mine, theirs = getattr(self, item.name), getattr(other, item.name)
            setattr(self, item.name, max(mine, theirs) if item.name == "deepest" else mine + theirs)

    def counts(self) -> dict[str, int]:
        """Return all counters by name."""
        return {item.name: int(getattr(self, item.name)) for item in fields(self)}


class Broken(NamedTuple):
    """Two executions come to equal states, and the same event leads to different ones.

    Attributes:
        label: of the event, the last step of both.
        one, other: the choices.
    """

    label: str
    one: tuple[int, ...]
    other: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A violation and an execution that shows it.

    Attributes:
        picks: the choices.
        labels: what happened, step by step.
        token: the same as a replay token.
    """

    violation: Violation
    picks: tuple[int, ...]
    labels: tuple[str, ...]
    token: str

    def rank(self) -> tuple[int, int, tuple[int, ...]]:
        """Return the order in which examples are preferred: few deviations, short, early."""
        return (sum(1 for pick in self.picks if pick), len(self.picks), self.picks)


@dataclass(slots=True)
class Exploration:
    """The result of a search, or of a part of one.

    Attributes:
        finals: outcomes of the complete executions.
        states: digests of the declared states, if equal ones are merged.
        classes: digests of the Mazurkiewicz traces, if they were asked for.
        violations: one example for each violation that was seen.
        endless: runs without an end were looked at; there may be no others.
        loops: by claim that an endless run breaks, the steps of its example before it goes round.
        broken: two executions that meet in equal states, from which the same event leads to different ones.
        covered: what the program says that the executions have exercised.
        longest: the choices of the longest execution; of the one with the longest round, if there is one.
        round: how many of these choices, the last ones, led back to an earlier state of the memory.
        remaining: parts of the tree that were not searched.
        left: executions that are left, as estimated; 0 where that is unknown.
        reasons: why the result is inconclusive.
        bounds: the bounds within which the search was exhaustive, in words.
        earlier: what was cut because it led back to an earlier state of the memory, in words.
        seconds: wall time.
    """

    statistics: Statistics = field(default_factory=Statistics)
    finals: set[Hashable] = field(default_factory=set)
    classes: set[bytes] = field(default_factory=set)
    states: set[bytes] = field(default_factory=set)
    violations: dict[Violation, Found] = field(default_factory=dict)
    loops: dict[str, int] = field(default_factory=dict)
    endless: bool = False
    broken: Broken | None = None
    covered: set[str] = field(default_factory=set)
    longest: tuple[int, ...] = ()
    round: int = 0
    remaining: tuple[WorkItem, ...] = ()
    left: float = 0.0
    reasons: tuple[str, ...] = ()
    bounds: str = ""
    earlier: str = ""
    seconds: float = 0.0

    @property
    def status(self) -> Status:
        """Return what may be claimed. Nothing executed, or anything left out, is never a pass."""
        if self.violations:
            return Status.UNEXPLORABLE if self.refused is not None else Status.REFUTED
        if self.remaining or self.reasons or not self._ran:
            return Status.INCONCLUSIVE
        return Status.EXHAUSTED

    @property
    def _ran(self) -> bool:
        return bool(self.statistics.executions or (self.endless and self.statistics.merged))

    @property
    def refused(self) -> str | None:
        """Return what the simulation refuses, in words, if nothing but that was found."""
        if not self.violations or any(violation.kind != CLOSED_WORLD for violation in self.violations):
            return None
        return self.first().violation.message

    @property
    def reason(self) -> str:
        """Return why the result is inconclusive, in words."""
        words = list(self.reasons)
        if self.refused is not None:
            words.append(f"the program cannot be explored: {self.refused}")
        if self.remaining:
            words.append(f"{len(self.remaining)} parts of the search tree were left out")
        if not self._ran:
            words.append("no execution was completed")
        return "; ".join(words)

    @property
    def done(self) -> int:
        """Return how many executions were run, those that were given up included."""
        counters = self.statistics
        return counters.executions + counters.blocked + counters.merged + counters.cut

    @property
    def rate(self) -> float:
        """Return executions a second, those that were given up included."""
        return self.done / max(self.seconds, 1e-9)

    def forecast(self) -> str:
        """Return how large the whole is, in words; empty where nothing is known."""
        return f"about {self.done / (self.done + self.left):.0%} done, an estimate" if self.left else ""

    def first(self) -> Found:
        """Return the preferred example among all violations."""
        return min(self.violations.values(), key=lambda found: (found.rank(), found.violation.message))

    def record(self, found: Found) -> None:
        """Keep the preferred example of a violation."""
        known = self.violations.get(found.violation)
        if known is None or found.rank() < known.rank():
            self.violations[found.violation] = found

    def finals_digest(self) -> str:
        """Return sixteen hexadecimal digits that represent the set of outcomes."""
        return hashlib.blake2b(self._finals_text(), digest_size=8).hexdigest()

    def finals_check_sum(self) -> int:
        """Return a number that represents the set of outcomes, to be pinned among the counts."""
        return zlib.crc32(self._finals_text())

    def _finals_text(self) -> bytes:
        return "\n".join(sorted(repr(final) for final in self.finals)).encode()


def merge(parts: Iterable[Exploration], *, bounds: str) -> Exploration:
    """Put parts together. The result does not depend on their order; ``remaining`` is the union."""
    whole = Exploration(bounds=bounds)
    items: list[WorkItem] = []
    reasons: set[str] = set()
    for part in parts:
        whole.statistics.add(part.statistics)
        whole.finals |= part.finals
        whole.classes |= part.classes
        whole.states |= part.states
        whole.broken = min(filter(None, (whole.broken, part.broken)), default=None)
        whole.covered |= part.covered
        for found in part.violations.values():
            whole.record(found)
        items += part.remaining
        whole.left += part.left
        reasons |= set(part.reasons)
        whole.seconds += part.seconds
    whole.remaining = tuple(sorted(items))
    whole.reasons = tuple(sorted(reasons))
    return whole
