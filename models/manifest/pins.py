"""The file of pins beside a manifest: what each claim and each step said when it was last reviewed."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from tidemark.models.manifest.errors import ManifestError
from tidemark.models.manifest.strict import Strict

READING = "reading "
"""What the id of a reading begins with."""


class Pin(Strict):
    """One thing that is pinned.

    Attributes:
        id: a property's or an assumption's id, ``action NAME``, ``state``, the reference of a variant, or
            ``reading`` and the reference of a reading.
        digest: of its tree.
        text: its tree in the words of the language; of a variant, what differs from its base.
    """

    id: str = Field(min_length=1)
    digest: str = Field(pattern=r"^[0-9a-f]{16}$")
    text: str = Field(min_length=1)

    @property
    def of_variant(self) -> bool:
        """Is it about a variant (``module:Class``) as a whole?"""
        return ":" in self.id and not self.of_reading

    @property
    def of_reading(self) -> bool:
        """Does it say how another protocol is read?"""
        return self.id.startswith(READING)

    @property
    def of_protocol(self) -> bool:
        """Is it about the protocol itself?"""
        return not (self.of_variant or self.of_reading)


_PINS = TypeAdapter(tuple[Pin, ...])


def pins_file(manifest: Path) -> Path:
    """``pins.toml`` beside ``manifest.toml``; ``NAME.pins.toml`` beside ``NAME.toml``."""
    return manifest.with_name("pins.toml" if manifest.stem == "manifest" else f"{manifest.stem}.pins.toml")


def is_pins_file(path: Path) -> bool:
    """Is it a file of pins by its name?"""
    return path.name == "pins.toml" or path.name.endswith(".pins.toml")


def read_pins(path: Path) -> tuple[Pin, ...]:
    """The pins of a file; none if there is no file. Raises ManifestError for anything else than pins."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    try:
        data = tomllib.loads(text)
        pins = _PINS.validate_python(data.pop("pin", []))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise _error(path, f"cannot be read: {error}") from error
    if data:
        raise _error(path, f"has the unknown key {min(data)!r}")
    twice = {pin.id for pin in pins if sum(other.id == pin.id for other in pins) > 1}
    if twice:
        raise _error(path, f"pins {min(twice)!r} twice")
    return pins


def _error(path: Path, message: str) -> ManifestError:
    return ManifestError(
        message, file=path.name, remedy="restore it; or remove it, and  tidemark pin  writes it"
    )
