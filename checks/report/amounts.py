"""Numbers as people read them: over how much, in how long."""

from __future__ import annotations

from collections.abc import Mapping

_NOUN = {
    "distinct": "states",
    "obligations": "obligations",
    "executions": "executions",
    "examples": "examples",
    "events": "events",
    "queries": "queries",
    "edges": "edges",
    "pins": "pins",
    "parts": "parts of claims",
}


def amount(counts: Mapping[str, int]) -> str:
    """The work of a verdict in words, for example ``12,345 states``."""
    for name, noun in _NOUN.items():
        if name in counts:
            count = counts[name]
            return f"{count:,} {_one(noun) if count == 1 else noun}"
    return ""


def _one(noun: str) -> str:
    if noun.startswith("parts"):
        return "part of a claim"
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun[:-1]


def total_amount(several: list[Mapping[str, int]]) -> str:
    """The work of several searches together, by kind."""
    sums: dict[str, int] = {}
    for counts in several:
        name = next((name for name in _NOUN if name in counts), None)
        if name is not None:
            sums[name] = sums.get(name, 0) + counts[name]
    return ", ".join(amount({name: count}) for name, count in sums.items())


def duration(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 05 s``, ``1 h 02 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"
