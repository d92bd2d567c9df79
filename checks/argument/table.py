"""The table of all that the protocols take as given: what is assumed and needed, and what need not be
assumed, since a variant without it is proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tidemark.checks.argument.environment import FINER
from tidemark.checks.argument.graph import DERIVED, ENVIRONMENT, Argument, Reliance

HEAD = ("protocol", "assumption", "in words", "how it is known")


class Row(NamedTuple):
    """One thing that a protocol takes as given. ``known``: what supports it, or why nothing does."""

    protocol: str
    assumption: str
    words: str
    known: str


def assumptions(argument: Argument, names: tuple[str, ...] = ()) -> list[Row]:
    """The rows of some protocols, of all by default: what is assumed first, then what is derived."""
    shown = names or tuple(argument.manifests)
    found = [row for name in shown for row in (*_environment(argument, name), *_constants(argument, name))]
    return [*found, *(row for name in shown for row in _derived(argument, name))]


def assumptions_text(argument: Argument, names: tuple[str, ...] = ()) -> str:
    """The table in Markdown."""
    rows = [HEAD, ("---",) * len(HEAD), *assumptions(argument, names)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _environment(argument: Argument, name: str) -> Iterator[Row]:
    for one in argument.reliances(name):
        if one.of_environment:
            needed, _, finer = one.support.partition(FINER)
            known = f"needed: `{needed}`" + (f"; in finer steps `{finer}`" if finer else "")
            yield _row(one, one.claim.removeprefix(ENVIRONMENT), one.problem or known)


def _constants(argument: Argument, name: str) -> Iterator[Row]:
    for one in argument.spec(name).assumptions:
        words = _sentence(one.description)
        yield Row(name, f"`{one.id.partition('.')[2]}`", words, "a condition on the constants")


def _derived(argument: Argument, name: str) -> Iterator[Row]:
    for one in argument.reliances(name):
        if one.of_variant:
            proof = one.claim.removeprefix(DERIVED)
            yield _row(one, "none", one.problem or f"derived: `{proof}` is without it")


def _row(one: Reliance, assumption: str, known: str) -> Row:
    named = assumption if assumption == "none" else f"`{assumption}`"
    return Row(one.protocol, named, _sentence(one.where), known)


def _sentence(words: str) -> str:
    """As a sentence, on one line."""
    text = " ".join(words.split()).rstrip(".")
    return f"{text[0].upper()}{text[1:]}."
