"""The first line of a command that judges: which manifest and protocol it is about."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tidemark.models.manifest.load import manifest_files, shown_name
from tidemark.models.manifest.model import Manifest

_NAMED = 4
"""At most so many manifests, and entries of one, are named; of more there is the number."""


def about(chosen: Iterable[tuple[Manifest, str]]) -> str:
    """``lease.toml: lease (tiny, any-size)``; of many manifests their number and the folder that has them.

    chosen: names of entries, each with its manifest; an entry of several judges may come several times.
    """
    entries: dict[str, dict[str, None]] = {}
    files: dict[str, Path] = {}
    for manifest, entry in chosen:
        assert manifest.path is not None, f"the manifest of {manifest.name} was read from no file"
        files[manifest.name] = manifest.path
        entries.setdefault(manifest.name, {})[entry] = None
    return heading(files, {name: [*own] for name, own in entries.items()})


def heading(files: Mapping[str, Path], entries: Mapping[str, Sequence[str]]) -> str:
    """The same line, of manifest files by the name of the protocol, and of those entries that are known."""
    if len(files) > _NAMED:
        folder = Path(os.path.commonpath([path.parent for path in files.values()]))
        number = sum(map(len, entries.values()))
        return f"{len(files)} manifests below {_from_here(folder)}" + f": {number:,} entries" * bool(number)
    return "; ".join(
        f"{shown_path(path)}: {name}{_listed(entries.get(name, ()))}" for name, path in files.items()
    )


def shown_path(path: Path | None) -> str:
    """A manifest file: of the suite by its short name, else as ``_from_here``."""
    if path is None:
        return "no file"
    return shown_name(path) if path in manifest_files() else _from_here(path)


def _from_here(path: Path) -> str:
    """The path from the present folder if it lies below it, else the whole."""
    here = Path.cwd().resolve()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


def _listed(entries: Sequence[str]) -> str:
    if not entries:
        return ""
    return f" ({', '.join(entries) if len(entries) <= _NAMED else f'{len(entries)} entries'})"
