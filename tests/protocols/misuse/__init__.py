"""Texts without a meaning, by what is wrong with them."""

from tests.protocols.misuse import methods, texts
from tests.protocols.misuse.base import CASES, Case

__all__ = ["CASES", "Case", "methods", "texts"]
