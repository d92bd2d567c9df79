"""The manifests that a command reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.manifest import Manifest, check_against_spec, chosen_manifests, load
from tidemark.models.manifest.about import shown_path


def loaded(paths: Sequence[Path] = ()) -> list[Manifest]:
    """The given manifests, else those of the project. Raises ManifestError; BadInputError if two of them have
    one name, or an entry of one name: verdicts and commands say no more than these names.
    """
    found = [load(path) for path in chosen_manifests(paths)]
    seen: dict[tuple[str, str], Manifest] = {}
    for manifest in found:
        entries = (("entry name", entry.name) for entry in manifest.entries())
        for what, name in (("name", manifest.name), *entries):
            other = seen.setdefault((what, name), manifest)
            if other is not manifest:
                files = f"{shown_path(other.path)} and {shown_path(manifest.path)}"
                raise BadInputError(
                    f"the {what} {name!r} is used in {files}",
                    remedy=f"rename one of them, for example to {manifest.name}-{name}",
                )
    return found


def manifests(paths: Sequence[Path] = ()) -> list[Manifest]:
    """The same, each compared with its specification. Raises PinError also."""
    found = loaded(paths)
    for manifest in found:
        assert manifest.path is not None
        check_against_spec(manifest, file=manifest.path.name)
    return found
