"""Mutants of the oracle's implementation: hazards and real bugs.

Where the specification has the same mutant, the steps are compared with that one, and its property is what
breaks.
"""

from typing import Any

from tidemark.models.mutation.declared import mutant
from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.tso.mutants.specification import GuardZero, InitIgnoresSaved, LoadErrorIsFresh
from tidemark.models.protocols.tso.program import OracleProgram, oracle
from tidemark.spec.language import removed
from tidemark.spec.tso.variants.elections import EarlyLeaseEnd

# ---- what the steps are compared with ----


class Deposed(EarlyLeaseEnd):
    """A lease may end while its holder serves (hazard 42): two servers may run."""

    one_server_runs = removed


class DeposedUnconditional(Deposed):
    """A deposed leader saves, and the store takes what arrives (hazard 43)."""

    CONDITIONAL = False
    RAISES = False


class ErrorIsFresh(LoadErrorIsFresh):
    """Looked at for what clients see."""

    restart_never_reissues = removed


class SavedIsIgnored(InitIgnoresSaved):
    """Looked at for what clients see."""

    restart_never_reissues = removed


class NoGuard(GuardZero):
    """Looked at for what clients see."""

    a_new_object_has_a_new_millisecond = removed


def _like(protocol: str) -> dict[str, Any]:
    """The steps are compared with a mutant of the specification."""
    return {"protocol": f"tidemark.models.protocols.tso.mutants.{protocol}", "sound": False}


# ---- faults of the program and of its store ----


@mutant(killer="tso.ordered", source="H42", instance="tso-impl-step-down")
def lease_ends_while_it_serves(**scenario: Any) -> OracleProgram:
    """The holder does not step down in time: the holder serves when its lease has ended (H42)."""
    return oracle(**{**scenario, **_like("implementation:Deposed"), "lease_rule": False})


@mutant(killer="tso.saved_never_goes_back", source="H43, facts 2.2", instance="tso-impl-failed-saves")
def store_takes_a_smaller_end(**scenario: Any) -> OracleProgram:
    """The store takes whatever arrives (facts 2.2, H43)."""
    return oracle(raises=False, sound=False, **scenario)


@mutant(killer="tso.unique", source="H43", instance="tso-impl-deposed")
def save_without_a_condition(**scenario: Any) -> OracleProgram:
    """A deposed leader saves too (H43)."""
    changed = {"conditional": False, "raises": False, **_like("implementation:DeposedUnconditional")}
    return oracle(**{**scenario, **changed})


# ---- faults of the oracle ----

ORACLE = "tso/oracle.py:TimestampOracle."
DRIVEN = Host("tso-impl-driven", oracle)
TAKEOVER = Host("tso-impl-takeover", oracle)
FAILED_SAVES = Host("tso-impl-failed-saves", oracle)
JUMPS = Host("tso-impl-clock-jumps", oracle)
OVERFLOW = Host("tso-impl-overflow", oracle)
LATE_ANSWER = Host("tso-impl-late-answer", oracle)
STEP_DOWN = Host("tso-impl-step-down", oracle)

BELOW_SAVED = "tso.issued_below_saved"
SAVE = "await self._save_window(update.next)"
CHECKED_PUBLISH = "self._term.check()\n        self.published"
CHECKED_ADD = "self._term.check()\n            last = current.add(count)"

MUTANTS = patches(
    __name__,
    Patch(
        "two-updaters",
        at="tso/server.py:OracleServer._lead",
        old='self._supervisor.spawn(partial(self._update, oracle), f"{self.name} update 0")',
        new="""for one in (0, 1):
            self._supervisor.spawn(partial(self._update, oracle, one), f"{self.name} update {one}")""",
        killer="tso.unique",
        on=LATE_ANSWER.like(
            updaters=2, protocol="tidemark.spec.tso.variants.elections:TwoUpdaters", sound=False
        ),
        source="H39",
        says="Two updaters: one publishes what the other has left behind (H39).",
    ),
    Patch(
        "load-error-is-fresh",
        at=ORACLE + "start",
        old="self.base = await self._store.load()",
        new="""try:
            self.base = await self._store.load()
        except StoreError:
            pass""",
        killer="tso.unique",
        on=Host("tso-impl-load-fails", oracle).like(**_like("implementation:ErrorIsFresh")),
        source="B1, H44",
        says="A window that cannot be read counts as one that was never saved (B1, H44).",
    ),
    Patch(
        "init-ignores-saved",
        at=ORACLE + "start",
        old="await self._store.load()",
        new="0 * await self._store.load()",
        killer="tso.ordered",
        on=TAKEOVER.like(**_like("implementation:SavedIsIgnored")),
        source="B2",
        says="The saved window is not used (B2).",
    ),
    Patch(
        "starts-at-the-end",
        at=ORACLE + "start",
        old="self.base + self._config.guard",
        new="self.base",
        killer="tso.the_first_object_is_above_the_base",
        on=TAKEOVER,
        walked=DRIVEN,
        source="facts 2.1: guard of the start",
        says="A start keeps no guard from the saved window.",
    ),
    Patch(
        "window-counts-before-it-is-saved",
        at=ORACLE + "_save_window",
        old="await",
        new="if self.published is not None:\n            self.window = end\n        await",
        killer=BELOW_SAVED,
        on=FAILED_SAVES,
        walked=DRIVEN,
        source="facts 2.2: on save error return",
        says="The end of the window is used in memory while the store may not have it.",
    ),
    Patch(
        "guard-zero",
        at=ORACLE + "_following",
        old="now - current.physical > self._config.guard",
        new="now > current.physical",
        killer="tso.unique",
        on=Host("tso-impl-fine-clock", oracle).like(**_like("implementation:NoGuard")),
        source="B3, H41",
        says="The time moves within a millisecond, and the counter begins anew (B3, H41).",
    ),
    Patch(
        "follows-the-clock-back",
        at=ORACLE + "_following",
        old="now - current.physical > self._config.guard",
        new="now != current.physical",
        killer="tso.a_new_object_has_a_new_millisecond",
        on=JUMPS.like(**_like("specification:FollowsTheClockBack")),
        source="H45",
        says="The time follows the clock wherever it goes (H45).",
    ),
    Patch(
        "publishes-before-the-save",
        at=ORACLE + "_move",
        old=SAVE,
        new=f"""await self._point("update.publish")
            self.published = self._make(update.next)
            return {SAVE}""",
        killer=BELOW_SAVED,
        on=FAILED_SAVES,
        walked=DRIVEN,
        source="seed 002, UpdateTimestamp: order of its steps",
        says="The time is used before the window reaches it.",
    ),
    Patch(
        "saves-too-late",
        at=ORACLE + "_move",
        old="self.window - update.next <= self._config.guard",
        new="self.window < update.next",
        killer=BELOW_SAVED,
        on=JUMPS.like(**_like("specification:SavesTooLate")),
        walked=DRIVEN,
        source="facts 2.2: guard of the window",
        says="The window is made longer only when it is passed.",
    ),
    Patch(
        "save-error-is-swallowed",
        at=ORACLE + "_move",
        old=SAVE,
        new=f"try:\n                {SAVE}\n            except StoreError:\n                pass",
        killer=BELOW_SAVED,
        on=FAILED_SAVES.like(**_like("specification:SaveErrorSwallowed")),
        source="facts 2.2: on save error return",
        says="A failed save counts as done.",
    ),
    Patch(
        "object-is-not-swapped-as-a-whole",
        at=ORACLE + "_move",
        old="self.published = self._make(update.next)",
        new="""counter = self.published.logical
        self.published = self._make(update.next)
        made = self.published
        made.logical = counter
        await self._point("update.reset")
        made.logical = 0""",
        on=OVERFLOW,
        source="seed 002, UpdateTimestamp: StorePointer",
        says="The new time is used with the old counter for a moment.",
    ),
    Patch(
        "overflow-is-not-checked",
        at=ORACLE + "generate",
        old="last >= self._config.max_logical",
        new="False",
        killer="tso.logical_never_carries",
        on=OVERFLOW,
        source="H40",
        says="The counter runs into the time (H40).",
    ),
    Patch(
        "overflow-check-is-off-by-one",
        at=ORACLE + "generate",
        old="last >= ",
        new="last > ",
        killer="tso.logical_never_carries",
        on=OVERFLOW,
        source="H40",
        says="The counter may reach its limit (H40).",
    ),
    Patch(
        "add-in-two-steps",
        at=ORACLE + "generate",
        old=CHECKED_ADD,
        new="""seen = current.logical
            await self._point("generate.store")
            self._term.check()
            last = current.logical = seen + count""",
        killer="tso.unique",
        on=OVERFLOW.like(sound=False),
        source="seed 002, GenerateTSO: atomic.AddInt64",
        says="The counter is read, and written in a later step.",
    ),
    Patch(
        "pointer-is-loaded-twice",
        at=ORACLE + "generate",
        old="current.add(count)",
        new="(self.published or current).add(count)",
        killer="tso.unique",
        on=LATE_ANSWER,
        source="seed 002, GenerateTSO: LoadPointer once",
        says="The time is that of one object, the counter that of another.",
    ),
    Patch(
        "last-is-taken-for-the-first",
        at=ORACLE + "allocate",
        old="Batch(last - count + 1, last)",
        new="Batch(last, last + count - 1)",
        killer="answers_are_composed",
        on=OVERFLOW,
        walked=DRIVEN,
        source="facts 2.3",
        says="What Generate returns is taken for the first of the batch (facts 2.3).",
    ),
    Patch(
        "the-dead-answer",
        at=ORACLE + "generate",
        old=CHECKED_ADD,
        new="last = current.add(count)",
        killer="tso.what_ended_is_over",
        on=STEP_DOWN,
        source="H42",
        says="A call that has its object is answered though the term is over (H42).",
    ),
    Patch(
        "update-after-the-end",
        at=ORACLE + "update",
        old="await self._move(update)",
        new="""import asyncio

                await asyncio.shield(asyncio.create_task(self._move(update), name="a update 0"))""",
        also=(Edit(ORACLE + "_move", CHECKED_PUBLISH, "self.published"),),
        killer="nothing_is_left",
        on=Host("tso-impl-step-down-in-an-update", oracle),
        source="B4",
        says="An update that was under way publishes after the term has ended (B4).",
    ),
    Patch(
        "update-is-published-after-the-term",
        at=ORACLE + "_move",
        old=CHECKED_PUBLISH,
        new="self.published",
        killer="nothing_is_left",
        on=Host("tso-impl-late-watch", oracle),
        source="B4",
        says="An update that was under way when the lease ran out is published all the same (B4).",
    ),
    Patch(
        "saved-window-counts-as-failed",
        at=ORACLE + "_save_window",
        old="self.window = end",
        new='self.window = end\n        raise StoreError("not saved")',
        on=JUMPS,
        source="facts 2.1",
        says="The store has saved the window, and the oracle goes on as if it had not.",
    ),
    Patch(
        "full-counter-is-waited-for-in-vain",
        at=ORACLE + "generate",
        old='await self._point("generate.add")',
        new="""if current.logical + count >= config.max_logical:
                import asyncio

                await asyncio.Event().wait()
            await self._point("generate.add")""",
        killer="tso.calls_end",
        on=OVERFLOW,
        source="seed 002, GenerateTSO; hazard 40",
        says="A call that does not fit into the counter waits for an object that is never announced.",
    ),
    Patch(
        "saved-is-ignored",
        at="tso/oracle.py:TimestampOracle.start",
        old="await self._store.load()",
        new="0 * await self._store.load()",
        walked=DRIVEN,
        source="B2",
        says="The saved window is not used at a start (B2).",
    ),
)
