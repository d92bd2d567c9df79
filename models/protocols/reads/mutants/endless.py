"""Mutants of a query node whose channel has ticks for ever: what only endless runs show.

Each is compared with a variant of the specification that makes the same mistake, if a step is one of it.
"""

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.reads.program.endless import endless
from tidemark.spec.language import Bool, action, require
from tidemark.spec.reads import Reads

MUTANTS_OF = "tidemark.models.protocols.reads.mutants"


class LooksThenSleeps(Reads):
    """A read that has looked may sleep, whatever the service time is by now."""

    @action(source="hazard 34")
    def fall_asleep(s, q: Reads.Read) -> None:
        """The read sleeps, because of what it saw before."""
        require(s.progress[q] == "waiting")
        s.progress[q] = "asleep"


class ServedAbove(Reads):
    """The service time must be above the guarantee."""

    def is_served(s, q: Reads.Read) -> Bool:
        return s.safe[s.place(q)] > s.guarantee[q]


def _against(variant: str, entry: str = "reads-endless") -> Host:
    return Host(entry, endless).like(protocol=f"{MUTANTS_OF}.{variant}")


SERVICE = "querynode/service_time.py:ServiceTime."
ENDS = "reads.a_waiting_read_ends"

MUTANTS = patches(
    __name__,
    Patch(
        "raise-wakes-nobody",
        at=SERVICE + "advance",
        old="self._wake()",
        new="pass",
        killer=ENDS,
        on=_against("specification:RaiseWakesNobody"),
        source="H34: the update without a broadcast",
        says="The service time is raised and the sleepers are not told; an equal tick raises nothing.",
    ),
    Patch(
        "release-wakes-nobody",
        at=SERVICE + "close",
        old="self._wake()",
        new="pass",
        killer=ENDS,
        on=_against("specification:CloseWakesNobody", "reads-endless-release"),
        source="H34: close must broadcast too",
        says="A channel is released and the sleepers are not told: its ticks go on, and they hear of none.",
    ),
    Patch(
        "sleeps-on-an-old-look",
        at=SERVICE + "_sleep",
        old="wakes = self",
        new='await self._preemption.point("tsafe.sleep")\n        wakes = self',
        killer=ENDS,
        on=_against("endless:LooksThenSleeps"),
        source="H34: looks without the lock",
        says="A read looks and falls asleep in two steps: it misses a raise in between, and no other comes.",
    ),
    Patch(
        "served-above-the-guarantee",
        at=SERVICE + "wait",
        old="self.value >= read.guarantee",
        new="self.value > read.guarantee",
        killer=ENDS,
        on=_against("endless:ServedAbove"),
        source="seed 002, waitTSafe: at or above",
        says="A read waits until the service time is above its guarantee: a tick at it is not enough.",
    ),
    Patch(
        "looks-again-for-ever",
        at=SERVICE + "wait",
        old="self.value >= read.guarantee",
        new="self.value > read.guarantee",
        also=(
            Edit(SERVICE + "_sleep", "wakes = self", "return await asyncio.sleep(1.0)\n        wakes = self"),
        ),
        killer=ENDS,
        on=_against("endless:ServedAbove"),
        source="seed 002, waitTSafe: at or above",
        says="The same, and the read is not woken but looks again each second: nothing ever stands still.",
    ),
    Patch(
        "empty-packs-are-passed-over",
        at="querynode/pipeline.py:ShardPipeline.process",
        old="self.pack, self.waiting",
        new="if not pack.messages:\n            return\n        self.pack, self.waiting",
        killer="reads.service_time_follows_the_oracle",
        on=Host("reads-endless", endless),
        source="B48",
        says="A pack without messages leaves the service time where it was.",
    ),
)
