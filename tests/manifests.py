"""The manifests of the suite, read once in a process."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from tidemark.models.manifest import Manifest, load, manifest_files


@cache
def manifests() -> Mapping[str, Manifest]:
    """By the name of the protocol."""
    return MappingProxyType({path.parent.name: load(path) for path in manifest_files()})


def entry_of(name: str) -> Any:
    """The entry of that name, whatever it asks for."""
    return next(entry for one in manifests().values() for entry in one.entries() if entry.name == name)
