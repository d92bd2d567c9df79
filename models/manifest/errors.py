"""The error of a manifest that cannot be used."""

from pathlib import Path


class ManifestError(ValueError):
    """A manifest entry is wrong. Names the file, the offending value and the remedy."""

    def __init__(self, message: str, *, file: Path | str, remedy: str) -> None:
        super().__init__(f"{file}: {message}")
        self.file = str(file)
        self.message = message
        self.remedy = remedy


class PinError(ManifestError):
    """The specification and the manifest disagree about what is pinned (property ids and kinds)."""
