"""A wrong query node and a wrong proxy for conformance: one fault of the implementation each."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.reads.handover import hand_over
from tidemark.models.protocols.reads.program import reads

MUTANTS = patches(
    __name__,
    Patch(
        "reads-do-not-wait",
        at="querynode/service_time.py:ServiceTime.wait",
        old="self.value >= read.guarantee",
        new="True",
        killer="conformance",
        on=Host("reads-driven", reads),
        source="facts 6.1: downgradeTsafe",
        says="A read is answered at the service time that there is.",
    ),
    Patch(
        "the-next-is-asked-for-anything",
        at="proxy/reads.py:Reader._ask",
        old="task.guarantee if moment is None else moment",
        new="task.guarantee if replica is self._replicas.of(channel)[0] else ZERO",
        killer="conformance",
        on=Host("reads-hand-over-driven", hand_over),
        tier="full",
        source="facts 6.1, 6.3; B40",
        says="The next node is asked without the guarantee.",
    ),
)
