"""A fingerprint of all that decides a run's verdicts: the sources, and the settings."""

from __future__ import annotations

import hashlib

from tidemark.models.rooms import ROOT, files

SUFFIXES = frozenset({".py", ".toml"})


def fingerprint(*, seed: int) -> str:
    """Hash of every source and manifest, and of the seed; where a search runs does not matter."""
    digest = hashlib.sha256(f"seed {seed}\n".encode())
    for path in files(suffixes=SUFFIXES):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
