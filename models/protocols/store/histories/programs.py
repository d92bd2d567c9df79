"""The programs of the stores' calls by plain arguments, as the manifest gives them."""

from __future__ import annotations

from tidemark.models.protocols.store.histories import kinds, leaders, scripts
from tidemark.models.protocols.store.histories.kinds import Kind
from tidemark.models.protocols.store.histories.program import HistoryProgram, Script

_PROGRAMS: dict[str, tuple[type[Kind], tuple[Script, ...]]] = {
    "objects": (kinds.Objects, scripts.OBJECTS),
    "objects-damaged": (kinds.Objects, scripts.OBJECTS_DAMAGED),
    "objects-power": (kinds.Objects, scripts.OBJECTS_POWER),
    "packs": (kinds.Packs, scripts.PACKS),
    "packs-damaged": (kinds.Packs, scripts.PACKS_DAMAGED),
    "packs-at-once": (kinds.Packs, scripts.PACKS_AT_ONCE),
    "packs-power": (kinds.Packs, scripts.PACKS_POWER),
    "packs-followed": (kinds.FollowedPacks, scripts.PACKS_FOLLOWED),
    "fenced": (kinds.Fenced, scripts.FENCED),
    "fenced-cuts": (kinds.Fenced, scripts.FENCED_CUTS),
    "fenced-at-once": (kinds.Fenced, scripts.FENCED_AT_ONCE),
    "fenced-damaged": (kinds.Fenced, scripts.FENCED_DAMAGED),
    "fenced-power": (kinds.Fenced, scripts.FENCED_POWER),
    "metadata": (kinds.Metadata, scripts.METADATA),
    "metadata-damaged": (kinds.Metadata, scripts.METADATA_OF_ANOTHER_VERSION),
    "metadata-power": (kinds.Metadata, scripts.METADATA_POWER),
    "cancelled": (kinds.Metadata, scripts.CANCELLED),
    "catalogue": (kinds.Catalogue, scripts.CATALOGUE),
    "catalogue-at-once": (kinds.Catalogue, scripts.CATALOGUE_AT_ONCE),
    "catalogue-power": (kinds.Catalogue, scripts.CATALOGUE_POWER),
    "streaming": (kinds.Streaming, scripts.STREAMING),
    "streaming-damaged": (kinds.Streaming, scripts.STREAMING_DAMAGED),
    "streaming-power": (kinds.Streaming, scripts.STREAMING_POWER),
    "metadata-plain": (kinds.Metadata, scripts.without_faults(scripts.METADATA)),
    "streaming-plain": (kinds.Streaming, scripts.without_faults(scripts.STREAMING)),
    "window": (leaders.SqliteWindow, scripts.WINDOW),
    "window-power": (leaders.SqliteWindow, scripts.WINDOW_POWER),
    "etcd": (leaders.EtcdWindow, scripts.ETCD),
    "memory-objects": (kinds.MemoryObjects, scripts.MEMORY_OBJECTS),
    "memory-metadata": (kinds.MemoryMetadata, scripts.MEMORY_METADATA),
    "memory-packs": (kinds.MemoryPacks, scripts.MEMORY_PACKS),
    "memory-window": (leaders.MemoryWindow, scripts.MEMORY_WINDOW),
}


def history(
    name: str, *, crashes: int = 0, cancellations: int = 0, timers: int = 6, kind: type[Kind] | None = None
) -> HistoryProgram:
    """Return a program.

    Args:
        name: of the store and what its users do.
        crashes: see HistoryProgram.
        cancellations: likewise.
        timers: how many timers may end.
        kind: a variant of the store.
    """
    usual, done = _PROGRAMS[name]
    return HistoryProgram(kind or usual, done, crashes=crashes, cancellations=cancellations, timers=timers)
