"""Mutants of the oracle's implementation: hazards and real bugs, each as an override of one small method.

The functions return the oracle program with the fault in it, and take the same arguments as
``tidemark.models.protocols.tso.programs.oracle``. Where the specification has the
same mutant, the steps are compared with that one, and its property is what breaks.
"""

import asyncio
from typing import Any

from tidemark.impl.errors import StoreError
from tidemark.impl.timestamp import Batch, Timestamp, compose
from tidemark.impl.tso.oracle import Published, Stage, TimestampOracle, Update
from tidemark.impl.tso.ports import NEVER_SAVED
from tidemark.impl.tso.server import OracleParts
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.tso.mutants.pairs import EarlyLeaseEnd
from tidemark.models.protocols.tso.mutants.specification import GuardZero, InitIgnoresSaved, LoadErrorIsFresh
from tidemark.models.protocols.tso.ports import SharedStore
from tidemark.models.protocols.tso.program import OracleProgram
from tidemark.models.protocols.tso.programs import oracle

# ---- what the steps are compared with ----


class Deposed(EarlyLeaseEnd):
    """A lease may end while its holder serves (hazard 42): two servers may run."""

    one_server_runs = None


class DeposedUnconditional(Deposed):
    """A deposed leader saves, and the store takes what arrives (hazard 43)."""

    CONDITIONAL = False
    RAISES = False


class ErrorIsFresh(LoadErrorIsFresh):
    """Looked at for what clients see."""

    restart_never_reissues = None


class SavedIsIgnored(InitIgnoresSaved):
    """Looked at for what clients see."""

    restart_never_reissues = None


class NoGuard(GuardZero):
    """Looked at for what clients see."""

    a_new_object_has_a_new_millisecond = None


def _like(protocol: str, parts: OracleParts, scenario: dict[str, Any]) -> OracleProgram:
    """The program with other parts, compared with a mutant of the specification."""
    return oracle(
        parts=parts, protocol=f"tidemark.models.protocols.tso.mutants.{protocol}", sound=False, **scenario
    )


# ---- start ----


class _TakesErrorsForNothing(TimestampOracle):
    async def _load(self) -> int:
        try:
            return await super()._load()
        except StoreError:
            return NEVER_SAVED


@mutant(killer="tso.unique", source="B1, H44", instance="tso-impl-load-fails")
def load_error_is_fresh(**scenario: Any) -> OracleProgram:
    """A window that cannot be read counts as one that was never saved (B1, H44)."""
    return _like("implementation:ErrorIsFresh", OracleParts(oracle=_TakesErrorsForNothing), scenario)


class IgnoresSaved(TimestampOracle):
    """Reads the saved window, and begins as if there were none."""

    async def _load(self) -> int:
        await super()._load()
        return NEVER_SAVED


@mutant(killer="tso.ordered", source="B2", instance="tso-impl-takeover")
def init_ignores_saved(**scenario: Any) -> OracleProgram:
    """The saved window is not used (B2)."""
    return _like("implementation:SavedIsIgnored", OracleParts(oracle=IgnoresSaved), scenario)


class _StartsAtTheEnd(TimestampOracle):
    def _first(self, now: int, base: int) -> int:
        return max(now, base)


@mutant(
    killer="tso.the_first_object_is_above_the_base",
    source="facts 2.1: guard of the start",
    instance="tso-impl-takeover",
)
def starts_at_the_end(**scenario: Any) -> OracleProgram:
    """A start keeps no guard from the saved window."""
    return oracle(parts=OracleParts(oracle=_StartsAtTheEnd), **scenario)


class _CountsWhatIsNotSaved(TimestampOracle):
    async def _save_window(self, physical: int) -> None:
        if self.published is not None:
            self.window = physical + self._config.window
        await super()._save_window(physical)


@mutant(
    killer="tso.issued_below_saved",
    source="facts 2.2: on save error return",
    instance="tso-impl-failed-saves",
)
def window_counts_before_it_is_saved(**scenario: Any) -> OracleProgram:
    """The end of the window is used in memory while the store may not have it."""
    return oracle(parts=OracleParts(oracle=_CountsWhatIsNotSaved), sound=False, **scenario)


# ---- update ----


class _FollowsAtOnce(TimestampOracle):
    def _following(self, now: int) -> int | None:
        current = self.published
        if current is not None and now > current.physical:
            return now
        return super()._following(now)


@mutant(killer="tso.unique", source="B3, H41", instance="tso-impl-fine-clock")
def guard_zero(**scenario: Any) -> OracleProgram:
    """The time moves within a millisecond, and the counter begins anew (B3, H41)."""
    return _like("implementation:NoGuard", OracleParts(oracle=_FollowsAtOnce), scenario)


class _FollowsBack(TimestampOracle):
    def _following(self, now: int) -> int | None:
        current = self.published
        return now if current is not None and now != current.physical else super()._following(now)


@mutant(killer="tso.a_new_object_has_a_new_millisecond", source="H45", instance="tso-impl-clock-jumps")
def follows_the_clock_back(**scenario: Any) -> OracleProgram:
    """The time follows the clock wherever it goes (H45)."""
    return _like("specification:FollowsTheClockBack", OracleParts(oracle=_FollowsBack), scenario)


class _PublishesFirst(TimestampOracle):
    async def _move(self, update: Update) -> None:
        if not self._window_is_short(update.next):
            await super()._move(update)
            return
        update.stage = Stage.SAVING
        await self._point("update.publish")
        self._publish(update.next)
        await self._save_window(update.next)


@mutant(
    killer="tso.issued_below_saved",
    source="seed 002, UpdateTimestamp: order of its steps",
    instance="tso-impl-failed-saves",
)
def publishes_before_the_save(**scenario: Any) -> OracleProgram:
    """The time is used before the window reaches it."""
    return oracle(parts=OracleParts(oracle=_PublishesFirst), sound=False, **scenario)


class _SavesLate(TimestampOracle):
    def _window_is_short(self, physical: int) -> bool:
        return self.window < physical


@mutant(
    killer="tso.issued_below_saved", source="facts 2.2: guard of the window", instance="tso-impl-clock-jumps"
)
def saves_too_late(**scenario: Any) -> OracleProgram:
    """The window is made longer only when it is passed."""
    return _like("specification:SavesTooLate", OracleParts(oracle=_SavesLate), scenario)


class SwallowsErrors(TimestampOracle):
    """Takes a failed save for done, once it serves."""

    async def _save_window(self, physical: int) -> None:
        if self.published is None:
            await super()._save_window(physical)
            return
        try:
            await super()._save_window(physical)
        except StoreError:
            return


@mutant(
    killer="tso.issued_below_saved",
    source="facts 2.2: on save error return",
    instance="tso-impl-failed-saves",
)
def save_error_is_swallowed(**scenario: Any) -> OracleProgram:
    """A failed save counts as done."""
    return _like("specification:SaveErrorSwallowed", OracleParts(oracle=SwallowsErrors), scenario)


@mutant(killer="tso.unique", source="H39", instance="tso-impl-late-answer")
def two_updaters(**scenario: Any) -> OracleProgram:
    """Two updaters: one publishes what the other has left behind (H39)."""
    return _like("pairs:TwoUpdaters", OracleParts(updaters=2), scenario)


class _SwapsInParts(TimestampOracle):
    async def _move(self, update: Update) -> None:
        current = self.published
        if current is None or self._window_is_short(update.next):
            await super()._move(update)
            return
        update.stage = Stage.PUBLISHING
        await self._point("update.publish")
        made = self._make(update.next)
        made.logical = current.logical
        self.published = made
        await self._point("update.reset")
        made.logical = 0


@mutant(killer="refinement", source="seed 002, UpdateTimestamp: StorePointer", instance="tso-impl-overflow")
def object_is_not_swapped_as_a_whole(**scenario: Any) -> OracleProgram:
    """The new time is used with the old counter for a moment."""
    return oracle(parts=OracleParts(oracle=_SwapsInParts), sound=False, **scenario)


# ---- handing out ----


class _Unchecked(TimestampOracle):
    def _overflows(self, last: int) -> bool:
        del last
        return False


@mutant(killer="tso.logical_never_carries", source="H40", instance="tso-impl-overflow")
def overflow_is_not_checked(**scenario: Any) -> OracleProgram:
    """The counter runs into the time (H40)."""
    return oracle(parts=OracleParts(oracle=_Unchecked), sound=False, **scenario)


class _UncheckedAtTheLimit(TimestampOracle):
    def _overflows(self, last: int) -> bool:
        return last > self._config.max_logical


@mutant(killer="tso.logical_never_carries", source="H40", instance="tso-impl-overflow")
def overflow_check_is_off_by_one(**scenario: Any) -> OracleProgram:
    """The counter may reach its limit (H40)."""
    return oracle(parts=OracleParts(oracle=_UncheckedAtTheLimit), sound=False, **scenario)


class _AddsInTwoSteps(TimestampOracle):
    async def generate(self, count: int) -> Timestamp:
        current = self.published
        if current is None:
            return await super().generate(count)
        await self._point("generate.add")
        seen = current.logical
        await self._point("generate.store")
        self._term.check()
        if seen + count >= self._config.max_logical:
            return await super().generate(count)
        current.logical = seen + count
        return compose(current.milli, current.logical)


@mutant(killer="tso.unique", source="seed 002, GenerateTSO: atomic.AddInt64", instance="tso-impl-overflow")
def add_in_two_steps(**scenario: Any) -> OracleProgram:
    """The counter is read, and written in a later step."""
    return oracle(parts=OracleParts(oracle=_AddsInTwoSteps), sound=False, **scenario)


class _LoadsTwice(TimestampOracle):
    async def generate(self, count: int) -> Timestamp:
        current = self.published
        if current is None:
            return await super().generate(count)
        await self._point("generate.add")
        self._term.check()
        latest: Published = self.published or current
        last = latest.add(count)
        return await super().generate(count) if self._overflows(last) else compose(current.milli, last)


@mutant(
    killer="tso.unique", source="seed 002, GenerateTSO: LoadPointer once", instance="tso-impl-late-answer"
)
def pointer_is_loaded_twice(**scenario: Any) -> OracleProgram:
    """The time is that of one object, the counter that of another."""
    return oracle(parts=OracleParts(oracle=_LoadsTwice), sound=False, **scenario)


class _TakesTheLastForTheFirst(TimestampOracle):
    async def allocate(self, count: int = 1) -> Batch:
        last = await self.generate(count)
        return Batch(first=last, last=Timestamp(last + count - 1))


@mutant(killer="answers_are_composed", source="facts 2.3", instance="tso-impl-overflow")
def last_is_taken_for_the_first(**scenario: Any) -> OracleProgram:
    """What Generate returns is taken for the first of the batch (facts 2.3)."""
    return oracle(parts=OracleParts(oracle=_TakesTheLastForTheFirst), sound=False, **scenario)


# ---- the end of a term ----


class _AnswersAnyway(TimestampOracle):
    async def generate(self, count: int) -> Timestamp:
        current = self.published
        if current is None:
            return await super().generate(count)
        await self._point("generate.add")
        last = current.add(count)
        return await super().generate(count) if self._overflows(last) else compose(current.milli, last)


@mutant(killer="tso.what_ended_is_over", source="H42", instance="tso-impl-step-down")
def the_dead_answer(**scenario: Any) -> OracleProgram:
    """A call that has its object is answered though the term is over (H42)."""
    return oracle(parts=OracleParts(oracle=_AnswersAnyway), sound=False, **scenario)


class _UpdatesTheDead(TimestampOracle):
    async def _move(self, update: Update) -> None:
        await asyncio.shield(asyncio.create_task(self._finish(update), name="a update 0"))

    async def _finish(self, update: Update) -> None:
        if self._window_is_short(update.next):
            update.stage = Stage.SAVING
            await self._save_window(update.next)
        update.stage = Stage.PUBLISHING
        await self._point("update.publish")
        self._publish(update.next)


@mutant(killer="nothing_is_left", source="B4", instance="tso-impl-step-down-in-an-update")
def update_after_the_end(**scenario: Any) -> OracleProgram:
    """An update that was under way publishes after the term has ended (B4)."""
    return oracle(parts=OracleParts(oracle=_UpdatesTheDead), sound=False, **scenario)


@mutant(killer="tso.ordered", source="H42", instance="tso-impl-step-down")
def lease_ends_while_it_serves(**scenario: Any) -> OracleProgram:
    """The holder does not step down in time: the holder serves when its lease has ended (H42)."""
    changed = {
        "lease_rule": False,
        "protocol": "tidemark.models.protocols.tso.mutants.implementation:Deposed",
        "sound": False,
    }
    return oracle(**{**scenario, **changed})


# ---- the store ----


class _PlainPut(SharedStore):
    def _kept(self, saved: int, end: int) -> int:
        del saved
        return end


@mutant(killer="tso.saved_never_goes_back", source="H43, facts 2.2", instance="tso-impl-failed-saves")
def store_takes_a_smaller_end(**scenario: Any) -> OracleProgram:
    """The store takes whatever arrives (facts 2.2, H43)."""
    return oracle(store=_PlainPut, sound=False, **scenario)


class _Unconditional(_PlainPut):
    def _takes(self, content: dict[str, Any]) -> bool:
        del content
        return True


@mutant(killer="tso.unique", source="H43", instance="tso-impl-deposed")
def save_without_a_condition(**scenario: Any) -> OracleProgram:
    """A deposed leader saves too (H43)."""
    return oracle(
        store=_Unconditional,
        **{
            **scenario,
            "protocol": "tidemark.models.protocols.tso.mutants.implementation:DeposedUnconditional",
            "sound": False,
        },
    )


class _PublishesLate(TimestampOracle):
    async def _move(self, update: Update) -> None:
        if self._window_is_short(update.next):
            update.stage = Stage.SAVING
            await self._save_window(update.next)
        update.stage = Stage.PUBLISHING
        await self._point("update.publish")
        self._publish(update.next)


@mutant(
    killer="nothing_is_left",
    source="B4",
    instance="tso-impl-late-watch",
)
def update_is_published_after_the_term(**scenario: Any) -> OracleProgram:
    """An update that was under way when the lease ran out is published all the same (B4)."""
    return oracle(parts=OracleParts(oracle=_PublishesLate), **scenario)


# ---- failures that no fault explains; work that is not done ----


class _DeniesWhatItSaved(TimestampOracle):
    async def _save_window(self, physical: int) -> None:
        await super()._save_window(physical)
        raise StoreError("not saved")


@mutant(killer="refinement", source="facts 2.1", instance="tso-impl-clock-jumps")
def saved_window_counts_as_failed(**scenario: Any) -> OracleProgram:
    """The store has saved the window, and the oracle goes on as if it had not."""
    return oracle(parts=OracleParts(oracle=_DeniesWhatItSaved), **scenario)


class _WaitsForEver(TimestampOracle):
    async def generate(self, count: int) -> Timestamp:
        if self.published is not None and self._overflows(self.published.logical + count):
            await asyncio.Event().wait()
        return await super().generate(count)


@mutant(killer="tso.calls_end", source="seed 002, GenerateTSO; hazard 40", instance="tso-impl-overflow")
def full_counter_is_waited_for_in_vain(**scenario: Any) -> OracleProgram:
    """A call that does not fit into the counter waits for an object that is never announced."""
    return oracle(parts=OracleParts(oracle=_WaitsForEver), **scenario)
