"""Protocols that were written in TLA+, Promela and Murphi too, and the counts on which TLC, Spin and Rumur
agree.
"""

from dataclasses import dataclass, field
from typing import Any

from tidemark.models.instance import Instance

TSO = "tidemark.checks.crosscheck.peers.tso:"
FLUSH_CP = "tidemark.checks.crosscheck.peers.flush_cp:"


def tso_size(*, processes: int, ticks: int, highest: int, overflow: int) -> dict[str, Any]:
    """Bounds and constants of a ``Tso``; clocks run one tick ahead of time at most."""
    return {
        "bounds": {"Process": processes, "Tick": max(highest, ticks + 1), "Logical": overflow},
        "constants": {"last_tick": ticks, "highest": highest, "overflow": overflow},
    }


def flush_cp_size(*, segments: int, ticks: int) -> dict[str, Any]:
    """Bounds and constants of a ``FlushCp``: tick i carries a row of segment i modulo (segments + 1), and
    none where that is 0. One position more is needed for positions plus one.
    """
    owners = [tick % (segments + 1) if tick <= ticks else 0 for tick in range(ticks + 2)]
    return {
        "bounds": {"Segment": segments, "Position": ticks + 1},
        "constants": {
            "last": ticks,
            "rows": [owner > 0 for owner in owners],
            "segment_of": [max(owner - 1, 0) for owner in owners],
        },
    }


@dataclass(frozen=True)
class Peer:
    """An instance and its counts, which are TLC's: distinct states, initial states and all successors,
    states on the longest shortest path.
    """

    name: str
    protocol: str
    distinct: int
    generated: int
    depth: int
    size: dict[str, Any] = field(default_factory=dict)

    @property
    def instance(self) -> Instance:
        """The instance that has these counts."""
        return Instance(self.protocol, name=self.name, **self.size)


_TSO_S = tso_size(processes=2, ticks=3, highest=7, overflow=3)
_FLUSH_CP_S = flush_cp_size(segments=2, ticks=4)

PEERS = {
    peer.name: peer
    for peer in (
        Peer("tso-s", TSO + "Tso", 16_578, 88_528, 25, _TSO_S),
        Peer("tso-m", TSO + "Tso", 868_352, 6_181_676, 36,
             tso_size(processes=3, ticks=4, highest=8, overflow=4)),
        Peer("tso-l", TSO + "Tso", 10_794_337, 82_207_546, 45,
             tso_size(processes=3, ticks=6, highest=11, overflow=4)),
        Peer("flush-cp-s", FLUSH_CP + "FlushCp", 31_166, 212_535, 29, _FLUSH_CP_S),
        Peer("flush-cp-m", FLUSH_CP + "FlushCp", 1_278_047, 10_678_224, 39,
             flush_cp_size(segments=3, ticks=7)),
        Peer("flush-cp-l", FLUSH_CP + "FlushCp", 12_791_505, 117_914_446, 47,
             flush_cp_size(segments=2, ticks=11)),
    )
}  # fmt: skip
"""By name; s takes no time, m about a second, l about half a minute and a gigabyte."""

COUNTEREXAMPLES = {
    TSO + "Unfenced": (_TSO_S, 10),
    TSO + "UnfencedSave": (_TSO_S, 10),
    TSO + "UnfencedGenerate": (_TSO_S, 10),
    FLUSH_CP + "ForgetsInFlight": (_FLUSH_CP_S, 5),
    FLUSH_CP + "InclusiveStart": (_FLUSH_CP_S, 6),
    FLUSH_CP + "SplitCallback": (_FLUSH_CP_S, 13),
    FLUSH_CP + "Unguarded": (_FLUSH_CP_S, 10),
    FLUSH_CP + "Unfiltered": (_FLUSH_CP_S, 7),
}
"""Variants by reference: size, and steps of the shortest run that breaks any claim."""
