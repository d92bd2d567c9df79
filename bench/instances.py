"""Instances by reference: ``flush/calm`` of a manifest, ``peers/tso-s`` of the peers,
``bench/flush-cp-13`` of this package.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tidemark.checks.crosscheck.peers import FLUSH_CP, PEERS, Peer, flush_cp_size
from tidemark.models.instance import Instance
from tidemark.models.manifest import InstanceEntry, instance_of, load, manifest_files

COUNTS = ("distinct", "generated", "depth")

GROWTH = {
    f"flush-cp-{ticks}": Peer(
        f"flush-cp-{ticks}", f"{FLUSH_CP}FlushCp", *counts, flush_cp_size(segments=2, ticks=ticks)
    )
    for ticks, counts in (
        (8, (1_750_567, 14_733_527, 40)),
        (13, (34_263_502, 334_129_048, 51)),
    )
}
"""One protocol from about 10^6 to about 3 * 10^7 states of one word, counted by the compiled kernel."""


@dataclass(frozen=True)
class Subject:
    """An instance, and the counts that it must have."""

    reference: str
    instance: Instance
    expected: Mapping[str, int]
    symmetry: tuple[str, ...] = ()

    @property
    def size(self) -> str:
        """Its name and number of states, for a table."""
        return f"{self.reference}: {self.expected['distinct']:,} states"


def subject(reference: str) -> Subject:
    """Look an instance up. Raises KeyError for an unknown reference."""
    family, _, name = reference.partition("/")
    if family in ("peers", "bench"):
        peer = (PEERS if family == "peers" else GROWTH)[name]
        counts = {"distinct": peer.distinct, "generated": peer.generated, "depth": peer.depth}
        return Subject(reference, peer.instance, counts)
    entry = _entry(reference)
    expected = {count: entry.counts[count] for count in COUNTS}
    return Subject(reference, instance_of(entry), expected, tuple(entry.symmetry))


def _entry(reference: str) -> InstanceEntry:
    family, _, name = reference.partition("/")
    for manifest in map(load, manifest_files()):
        for entry in manifest.instance if manifest.name == family else ():
            if entry.name == name:
                return entry
    raise KeyError(f"no instance {reference!r}")
