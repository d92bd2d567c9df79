"""The manifests of the suite, read once in a process."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from tidemark.models.manifest import InterleaveEntry, Manifest, load, manifest_files


@cache
def manifests() -> Mapping[str, Manifest]:
    """By the name of the protocol."""
    return MappingProxyType({path.parent.name: load(path) for path in manifest_files()})


def program_entry(name: str) -> InterleaveEntry:
    """The entry of that name whose program is explored."""
    return next(entry for one in manifests().values() for entry in one.interleave if entry.name == name)
