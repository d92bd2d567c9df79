"""A fingerprint of all that decides a run's verdicts: the sources, and the settings."""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).parent.parent
_ROOMS = ("spec", "impl", "models", "checks")


def fingerprint(*, seed: int, root: Path = ROOT) -> str:
    """Hash of every source and manifest, and of the seed; where a search runs does not matter."""
    digest = hashlib.sha256(f"seed {seed}\n".encode())
    for room in _ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in (".py", ".toml"):
                digest.update(f"{path.relative_to(root).as_posix()}\n".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
