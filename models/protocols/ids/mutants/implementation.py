"""Mutants of both sides of ids."""

from typing import Any

from tidemark.impl.proxy.ids import IdCache
from tidemark.models.mutation.declared import mutant
from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.ids.program import Asker, IdsProgram, IdsScenario, ids

CRASHES = Host("ids-impl-crashes", ids)
SILENCE = Host("ids-impl-silence", ids)
CACHE = "proxy/ids.py:IdCache."
ORACLE = "tso/oracle.py:TimestampOracle."
APART = "ids.batches_are_apart"


class _KeepsTheBatch(IdsProgram):
    def begin(self, asker: Asker, cache: IdCache) -> None:
        answers = [question.answer for question in asker.questions if question.answer is not None]
        super().begin(asker, cache)
        if answers:
            cache.left = answers[-1]


@mutant(killer="ids.ids_are_unique", source="seed 004, 6.0", instance=CRASHES.entry)
def a_restart_keeps_the_batch(**scenario: Any) -> IdsProgram:
    """A proxy that restarts goes on with the batch that it had kept, from its first id."""
    return _KeepsTheBatch(IdsScenario(**scenario))


MUTANTS = patches(
    __name__,
    Patch(
        "the-end-is-taken-for-the-last",
        at=CACHE + "_cut",
        old="min(last, ",
        new="min(last + 1, ",
        on=CRASHES,
        source="seed 004, 6.0",
        says="The end of a batch is taken for its last id.",
    ),
    Patch(
        "a-run-begins-where-another-ended",
        at=CACHE + "_cut",
        old="Batch(run.last + 1, last)",
        new="Batch(run.last, last)",
        killer="ids.an_id_is_of_a_batch",
        on=CRASHES,
        walked=Host("ids-driven", ids),
        source="seed 004, 6.0",
        says="The last id of a run is the first of the next one.",
    ),
    Patch(
        "a-failed-request-gives-back",
        at=CACHE + "_wait",
        old="raise RpcError",
        new="self.left = request.runs[0] if request.runs else None\n                raise RpcError",
        on=CRASHES,
        source="seed 004, 6.0",
        says="A request that fails puts back what it was given, after others were served.",
    ),
    Patch(
        "ids-are-made-up",
        at=CACHE + "_fetch",
        old='await self._preemption.point("ids.ask")',
        new="""self.left = Batch(1 << 18, (1 << 18) + count - 1)
        await self._preemption.point("ids.ask")""",
        on=SILENCE,
        source="seed 004, 6.0",
        says="A proxy gives ids of its own until the coordinator has answered.",
    ),
    Patch(
        "who-waits-is-not-told",
        at=CACHE + "_fetch",
        old="""self.fail(str(error))
        else:""",
        new="pass\n        else:",
        on=SILENCE,
        source="seed 004, 6.0",
        says="A failed question is not asked again, and whoever waits for it is not told.",
    ),
    Patch(
        "the-window-is-not-loaded",
        at=ORACLE + "start",
        old="await self._store.load()",
        new="0 * await self._store.load()",
        killer=APART,
        on=CRASHES,
        source="B1",
        says="A coordinator that restarts begins anew.",
    ),
    Patch(
        "the-window-is-not-saved",
        at=ORACLE + "_save_window",
        old="end = physical",
        new="return\n        end = physical",
        killer=APART,
        on=CRASHES,
        source="seed 004, 6.0",
        says="The end of the window is not in the store when the first ids are given.",
    ),
    Patch(
        "the-next-ids-begin-at-the-saved-end",
        at=ORACLE + "start",
        old="self.base + self._config.guard",
        new="self.base",
        on=CRASHES,
        source="facts 2.1",
        says="A coordinator that restarts begins at the saved end: its ids are those of no incarnation.",
    ),
    Patch(
        "a-question-like-the-last-is-its-copy",
        at="rootcoord/ids.py:IdAllocator.allocate",
        old="return await self._oracle.allocate(min(count, self._most))",
        new="""last = self.__dict__.setdefault("last", {})
            if count in last:
                return last.pop(count)
            last[count] = await self._oracle.allocate(min(count, self._most))
            return last[count]""",
        on=Host("ids-impl-doubled", ids),
        source="seed 004, 6.0",
        says="A question for as many ids as the one before is answered with its batch, as a copy.",
    ),
)

IDS = "proxy/ids.py:IdCache."

SLIPS = patches(
    __name__,
    Patch(
        "a-failure-is-told-to-the-first-alone",
        at=IDS + "fail",
        old="in self.waiting",
        new="in self.waiting[:1]",
        source="seed 004: 6.2",
        says="The requests behind the first one wait for another time-out.",
    ),
    Patch(
        "ids-of-who-leaves-are-taken-back",
        at=IDS + "fill",
        old="finally:",
        new="""except asyncio.CancelledError:
            if request.runs and self.left is not None:
                self.left = Batch(request.runs[-1].first, self.left.last)
            raise
        finally:""",
        source="seed 004: 6.2",
        says="Batches count as next to each other: the ids between them are given, too.",
    ),
)
