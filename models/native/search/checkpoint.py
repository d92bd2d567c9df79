"""A stopped search on disk: written whole, refused if damaged or of another kernel."""

import hashlib
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidemark.models.native.errors import SavedSearchError
from tidemark.models.native.kernel import Kernel
from tidemark.models.native.search.breadth_first import Search, SearchLimits
from tidemark.models.native.search.result import Hit
from tidemark.models.native.symmetry import Symmetry

ARRAYS = ("states", "links", "spans", "stats", "flags", "seen")


def _arrays(search: Search) -> dict[str, NDArray[Any]]:
    visited, counters = search.visited, search.counters
    return {
        "states": visited.states,
        "links": visited.links,
        "spans": visited.spans,
        "stats": counters.stats,
        "flags": counters.flags,
        "seen": counters.seen,
    }


def _checksum(head: str, arrays: dict[str, NDArray[Any]]) -> str:
    total = hashlib.sha256(head.encode())
    for name in ARRAYS:
        total.update(np.ascontiguousarray(arrays[name]).data)
    return total.hexdigest()


def _mark(kernel: Kernel, symmetry: Symmetry | None) -> str:
    """The kernel of a saved search, and the sorts under whose renamings states are one."""
    sorts = "" if symmetry is None else f"{','.join(symmetry.sorts)} by marks"
    return hashlib.sha256(f"{sorts}\n{kernel.text}".encode()).hexdigest()


def save(search: Search, path: Path) -> None:
    """Write the search to a file (``.npz``), replacing an older one only when complete. Raises OSError."""
    totals = asdict(search.totals)
    for name in ("generated", "out_of_bounds", "guards"):
        del totals[name]
    head = json.dumps({"kernel": _mark(search.kernel, search.symmetry), "totals": totals}, sort_keys=True)
    arrays = _arrays(search)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
        np.savez(file, head=np.array(head), checksum=np.array(_checksum(head, arrays)), **arrays)  # type: ignore[arg-type]
    Path(file.name).replace(path)


def load(
    path: Path,
    kernel: Kernel,
    limits: SearchLimits | None = None,
    *,
    workers: int | None = None,
    symmetry: Sequence[str] = (),
) -> Search:
    """The search as it was saved, for any number of workers. Raises SavedSearchError if damaged or another
    kernel's.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in ARRAYS}
            head, checksum = str(stored["head"]), str(stored["checksum"])
    except (OSError, KeyError, ValueError, EOFError) as error:
        raise SavedSearchError(f"{path.name} is not a saved search ({error}); start a new search") from error
    except Exception as error:  # zipfile and zlib have errors of their own for damaged files
        if type(error).__module__ not in ("zipfile", "zlib"):
            raise
        raise SavedSearchError(f"{path.name} is damaged ({error}); start a new search") from error
    if _checksum(head, arrays) != checksum:
        raise SavedSearchError(f"{path.name} is damaged (checksum); start a new search")
    content = json.loads(head)
    if "totals" not in content:
        raise SavedSearchError(f"{path.name} is of an older version; start a new search")
    search = Search(kernel, limits, workers=workers, symmetry=symmetry)
    if content["kernel"] != _mark(kernel, search.symmetry):
        raise SavedSearchError(f"{path.name} belongs to another protocol or instance; start a new search")
    initial = int(content["totals"]["initial"])
    search.visited.restore(arrays["states"], arrays["links"], arrays["spans"], initial=initial)
    for name in ("stats", "flags", "seen"):
        getattr(search.counters, name)[:] = arrays[name]
    _restore_totals(search, content["totals"])
    return search


def _restore_totals(search: Search, saved: dict[str, Any]) -> None:
    totals = search.totals
    for name in ("initial", "next_row", "levels", "deadlocks", "first_deadlock", "seconds"):
        setattr(totals, name, saved[name])
    for name in ("state_hits", "step_hits"):
        hits = {
            int(key): Hit(hit["state"], hit["step"], tuple(hit["target"])) for key, hit in saved[name].items()
        }
        setattr(totals, name, hits)
