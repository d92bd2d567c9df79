"""Instances of public models and the counts that TLC gives of them, run with one worker.

The models are among the examples that the TLA+ community keeps, with the constants of their own
configurations; what differs stands at the row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tidemark.models.instance import Instance

SMALL = "tests.protocols.small:"
KNOWN = "tests.protocols.known."
PAIRS_OF_THREE = [[True, True, False], [True, False, True], [False, True, True]]
SEVEN_EDGES = ((0, 1), (0, 2), (1, 2), (1, 3), (1, 4), (2, 3), (3, 4))
"""With node 0 as the root: up to renaming, the only graph of five nodes and seven edges with these counts."""


@dataclass(frozen=True)
class Row:
    """An instance and its counts: distinct states within the bounds, initial states and all successors,
    states on the longest shortest path, states without a successor.
    """

    protocol: str
    bounds: Mapping[str, Any]
    distinct: int
    total: int
    depth: int
    constants: Mapping[str, Any] = field(default_factory=dict)
    stuck: int = 0
    refuted: Mapping[str, int] = field(default_factory=dict)
    """Claims that do not hold, and the states of the shortest counterexample."""

    @property
    def name(self) -> str:
        """The protocol's class."""
        return self.protocol.partition(":")[2]

    @cached_property
    def instance(self) -> Instance:
        """The instance that has these counts."""
        return Instance(self.protocol, self.bounds, self.constants, self.name)


ROWS = (
    Row(SMALL + "HourClock", {"Hour": 12}, 12, 24, 1),
    Row(SMALL + "AsynchInterface", {"Data": 3}, 12, 30, 2),
    Row(SMALL + "Lock", {"Process": 2}, 12, 21, 5),
    Row(SMALL + "Peterson", {"Process": 1}, 42, 77, 11),
    Row(SMALL + "CigaretteSmokers", {"Ingredient": 3}, 6, 15, 2),
    Row(SMALL + "DieHard", {"Litre": 5}, 16, 97, 8, refuted={"never_four": 7}),
    Row(SMALL + "TCommit", {"Manager": 3}, 34, 94, 7, stuck=2),
    Row(SMALL + "TwoPhase", {"Manager": 3}, 288, 1_146, 11),
    Row(KNOWN + "processes:DiningPhilosophers", {"Seat": 4}, 67, 336, 29, {"last": 4}),
    Row(KNOWN + "processes:CoffeeCan", {"Bean": 1000}, 501_500, 2_000_002, 1, {"most": 1000}),
    Row(
        KNOWN + "processes:SpanningTree",
        {"Node": 5, "Distance": 6},
        1_236,
        10_278,
        5,
        {"root": 0, "edge": [[(min(a, b), max(a, b)) in SEVEN_EDGES for b in range(5)] for a in range(5)]},
        stuck=2,
    ),
    Row(KNOWN + "queues:InnerFifo", {"Slot": 3, "Value": 2}, 3_864, 9_660, 11),
    Row(
        KNOWN + "queues:Paxos",
        {"Acceptor": 3, "Quorum": 3, "Ballot": 2},
        3_921,
        23_563,
        17,
        {"member": PAIRS_OF_THREE},
    ),
    # TLC's constraint has upper bounds only; the lower ones are wide enough that no state is lost below.
    Row(
        KNOWN + "processes:Ewd998",
        {"Node": 2, "Message": 3, "Balance": (-9, 3), "Sum": (-20, 9), "Reason": 2},
        1_520_618,
        11_238_019,
        59,
        {"last": 2},
        stuck=55,
    ),
)
