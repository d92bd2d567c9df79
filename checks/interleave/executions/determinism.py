"""Is a program a function of its choices? Run an execution again and compare everything that was recorded."""

import contextlib
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from tidemark.checks.interleave.errors import DivergenceError, NondeterminismError
from tidemark.checks.interleave.executions.record import ExecutionRecord
from tidemark.checks.interleave.executions.replay import Exact
from tidemark.checks.interleave.executions.run import Factory, run_once
from tidemark.models.simulation import Footprint, Interner, closed_world


class Again(NamedTuple):
    """What the second run of an execution shows.

    Attributes:
        caught: the second run, if the strict watch caught it reaching for the real world.
        same_callbacks: the steps ran the same callbacks in the same order. If not, a set was iterated whose
            order depends on addresses.
    """

    caught: ExecutionRecord | None
    same_callbacks: bool


def check_again(factory: Factory, run: ExecutionRecord, *, interner: Interner, strict: bool) -> Again:
    """Repeat an execution.

    ``strict``: also watch each C function that is called, so that a wall clock is seen however it is reached.
    Raises NondeterminismError: the second time differs.
    """
    guard = closed_world.strict() if strict else contextlib.nullcontext()
    picks = run.picks
    strategy = _Stop(picks, run)
    try:
        with guard:
            again = run_once(factory, strategy, interner=interner, steps=max(len(picks), 1))
    except DivergenceError as error:
        raise NondeterminismError(f"the program is not deterministic: {error.message}") from error
    caught = again.violation
    if caught is not None and caught.kind == "closed-world" and run.violation is None:
        return Again(again, same_callbacks=True)
    for number, (one, two) in enumerate(zip_longest(run.trace, again.trace)):
        if one != two:
            what = "footprint" if one and two and one.label == two.label else "course"
            label = one.label if one else "(end)"
            raise NondeterminismError(
                f"the program is not deterministic: step {number} ({label}) changed its {what}"
            )
    if run.violation != again.violation or run.final != again.final:
        raise NondeterminismError(
            f"the program is not deterministic: the same steps ended in {run.violation or run.final!r} "
            f"and then in {again.violation or again.final!r}"
        )
    return Again(None, same_callbacks=run.history == again.history)


class _Stop(Exact):
    """Replays a run and gives up where the run gave up."""

    def __init__(self, picks: tuple[int, ...], run: ExecutionRecord) -> None:
        super().__init__(picks, trace=run.trace)
        self._length = len(picks)
        self._taken = 0

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int | None:
        """Return the recorded pick; None past the end, where a blocked run stopped."""
        if self._taken >= self._length:
            return None
        self._taken += 1
        return super().pick(enabled, last)
