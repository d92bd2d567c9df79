"""Texts without a meaning, by what is wrong with them."""

from tests.protocols.misuse import assignments, bodies, claims, control, methods, quantifiers, types
from tests.protocols.misuse.base import CASES, Case

__all__ = [
    "CASES",
    "Case",
    "assignments",
    "bodies",
    "claims",
    "control",
    "methods",
    "quantifiers",
    "types",
]
