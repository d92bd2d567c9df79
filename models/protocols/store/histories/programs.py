"""The programs of the stores' calls by plain arguments, as the manifest gives them."""

from __future__ import annotations

from tidemark.models.protocols.store.histories import folders, kinds, leaders, records, scripts
from tidemark.models.protocols.store.histories.kinds import Kind
from tidemark.models.protocols.store.histories.program import HistoryProgram, Script

_PROGRAMS: dict[str, tuple[type[Kind], tuple[Script, ...]]] = {
    "objects": (kinds.Objects, scripts.OBJECTS),
    "objects-again": (kinds.Objects, scripts.OBJECTS_AGAIN),
    "objects-beside": (kinds.ReadyObjects, scripts.OBJECTS_BESIDE),
    "objects-damaged": (kinds.Objects, scripts.OBJECTS_DAMAGED),
    "objects-power": (kinds.Objects, scripts.OBJECTS_POWER),
    "folder": (folders.Folder, folders.FOLDER),
    "folder-power": (folders.Folder, folders.FOLDER_POWER),
    "packs": (kinds.Packs, scripts.PACKS),
    "packs-damaged": (kinds.Packs, scripts.PACKS_DAMAGED),
    "packs-at-once": (kinds.Packs, scripts.PACKS_AT_ONCE),
    "packs-power": (kinds.Packs, scripts.PACKS_POWER),
    "packs-followed": (kinds.FollowedPacks, scripts.PACKS_FOLLOWED),
    "fenced": (kinds.Fenced, scripts.FENCED),
    "fenced-cuts": (kinds.Fenced, scripts.FENCED_CUTS),
    "fenced-again": (kinds.Fenced, scripts.FENCED_AGAIN),
    "fenced-fails-at-once": (kinds.Fenced, scripts.FENCED_FAILS_AT_ONCE),
    "fenced-at-once": (kinds.Fenced, scripts.FENCED_AT_ONCE),
    "fenced-cancelled": (kinds.Fenced, scripts.FENCED_CANCELLED),
    "fenced-damaged": (kinds.Fenced, scripts.FENCED_DAMAGED),
    "fenced-power": (kinds.Fenced, scripts.FENCED_POWER),
    "metadata": (kinds.Metadata, records.METADATA),
    "metadata-damaged": (kinds.Metadata, records.METADATA_OF_ANOTHER_VERSION),
    "metadata-power": (kinds.Metadata, records.METADATA_POWER),
    "closed": (kinds.Metadata, records.CLOSED),
    "cancelled": (kinds.Metadata, records.CANCELLED),
    "catalogue": (kinds.Catalogue, records.CATALOGUE),
    "catalogue-at-once": (kinds.Catalogue, records.CATALOGUE_AT_ONCE),
    "catalogue-power": (kinds.Catalogue, records.CATALOGUE_POWER),
    "releases": (kinds.Releases, records.RELEASES),
    "releases-power": (kinds.Releases, records.RELEASES_POWER),
    "streaming": (kinds.Streaming, records.STREAMING),
    "streaming-damaged": (kinds.Streaming, records.STREAMING_DAMAGED),
    "streaming-power": (kinds.Streaming, records.STREAMING_POWER),
    "metadata-plain": (kinds.Metadata, records.without_faults(records.METADATA)),
    "streaming-plain": (kinds.Streaming, records.without_faults(records.STREAMING)),
    "window": (leaders.SqliteWindow, records.WINDOW),
    "window-power": (leaders.SqliteWindow, records.WINDOW_POWER),
    "etcd": (leaders.EtcdWindow, records.ETCD),
    "memory-objects": (kinds.MemoryObjects, scripts.MEMORY_OBJECTS),
    "memory-metadata": (kinds.MemoryMetadata, records.MEMORY_METADATA),
    "memory-packs": (kinds.MemoryPacks, scripts.MEMORY_PACKS),
    "memory-window": (leaders.MemoryWindow, records.MEMORY_WINDOW),
}


def history(name: str, *, crashes: int = 0, cancellations: int = 0, timers: int = 6) -> HistoryProgram:
    """Return a program.

    Args:
        name: of the store and what its users do.
        crashes: see HistoryProgram.
        cancellations: likewise.
        timers: how many timers may end.
    """
    kind, done = _PROGRAMS[name]
    return HistoryProgram(kind, done, crashes=crashes, cancellations=cancellations, timers=timers)
