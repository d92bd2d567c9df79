"""Wrong oracles for conformance, each with one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.protocols.tso.driver import TsoAdapter
from tidemark.models.protocols.tso.mutants.implementation import IgnoresSaved, SwallowsErrors
from tidemark.models.protocols.tso.program import OracleParts


class SavedIsIgnored(TsoAdapter):
    """The saved window is not used at a start (B2)."""

    parts: ClassVar[OracleParts] = OracleParts(oracle=IgnoresSaved)


class SaveErrorIsSwallowed(TsoAdapter):
    """A failed save counts as done."""

    parts: ClassVar[OracleParts] = OracleParts(oracle=SwallowsErrors)
