"""The history of a live store, saved beside the other evidence of a run."""

from __future__ import annotations

import json
from pathlib import Path

from tidemark.checks.evidence.readers.etcd import GatewayError, watch
from tidemark.checks.verdicts.errors import BadInputError

FILE = Path("live") / "etcd.ndjson"


def save_store(address: str, *, build: Path) -> Path:
    """Write the whole history of the etcd at a gateway to a file below the build folder; return its path.

    The history ends where no change comes for some seconds. Raises BadInputError if nothing answers at the
    address, if the first revisions are gone, or if the history is empty.
    """
    path = build / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    changes = 0
    try:
        with path.open("w", encoding="utf-8") as file:
            for change in watch(address):
                file.write(f"{json.dumps(change)}\n")
                changes += 1
    except (GatewayError, ValueError) as error:
        raise BadInputError(
            str(error), remedy="name the HTTP gateway of an etcd that keeps its history: http://HOST:2379"
        ) from error
    if not changes:
        raise BadInputError(f"the store at {address} has no change", remedy="name another store")
    return path
