"""The bundles of a run. One that an earlier run has written of the same verdict, and that is unchanged since
since, is not written again: a run in which nothing has changed would mostly write hundreds of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tidemark.checks.report.forms.bundle import FOLDER, bundle_id, remove_others, write_bundle
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.sealed import DamagedError, ForeignError, read_sealed, write_sealed
from tidemark.checks.verdicts.verdict import Verdict

INDEX = ".written.json"
"""What lies in each bundle, and of what it was made; beside the bundles."""
FORMAT = 1

Entry = tuple[str, dict[str, list[int]]]
"""Digest of what a bundle was made of; of each of its files size and time of writing."""


def write_bundles(result: RunResult, *, build: Path, forms: str = "") -> None:
    """Write the bundles of all verdicts with a counterexample, and remove all others.

    ``forms``: digest of the code that writes them; empty to write every one.
    """
    folder = build / FOLDER
    shown = [one.verdict for one in result.judgements if one.verdict.counterexample is not None]
    remove_others({bundle_id(verdict) for verdict in shown}, build=build)
    before = _read(folder / INDEX) if forms else {}
    now: dict[str, Entry] = {}
    for verdict in shown:
        name, sources = bundle_id(verdict), result.source_lines(verdict.subject)
        made_of = _digest(verdict, sources, forms, folder)
        known = before.get(name)
        if known is not None and known[0] == made_of and known[1] == _files(folder / name):
            now[name] = known
            continue
        write_bundle(verdict, build=build, sources=sources)
        now[name] = (made_of, _files(folder / name))
    if forms and shown and now != before:
        with suppress(OSError):
            write_sealed(folder / INDEX, json.dumps(now, sort_keys=True), version=FORMAT)


def _digest(verdict: Verdict, sources: Sequence[str], forms: str, folder: Path) -> str:
    """Of all that the texts of a bundle are made of; a reproducer names its own place."""
    parts = (verdict.model_dump_json(), json.dumps(sources), forms, str(folder.absolute()))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _files(folder: Path) -> dict[str, list[int]]:
    """Size and time of writing of each file; empty if there is none."""
    found = {}
    with suppress(OSError):
        for path in folder.iterdir():
            status = path.stat()
            found[path.name] = [status.st_size, status.st_mtime_ns]
    return found


def _read(path: Path) -> Mapping[str, Entry]:
    try:
        body = read_sealed(path, version=FORMAT)
        found = json.loads(body) if body is not None else {}
        return {name: (made_of, files) for name, (made_of, files) in found.items()}
    except (DamagedError, ForeignError, ValueError, TypeError, AttributeError):
        return {}
