"""Verdicts on an implementation that stay what they are while a specification replies as before.

A judge that explores an implementation sees the specification only through what it asks
(``tidemark.models.refinement.queries``). So its verdicts are kept with these queries and replies, under a key
that leaves the specification out. They are taken over if the present specification gives the same replies.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tidemark.checks.verdicts.reuse import Reuse
from tidemark.checks.verdicts.sealed import DamagedError, ForeignError, read_sealed, write_sealed
from tidemark.checks.verdicts.verdict import Outcome, Verdict, amended
from tidemark.models.instance import BadInstance
from tidemark.models.refinement.queries import Asked
from tidemark.models.refinement.step import StepChecker, asking
from tidemark.spec.language.errors import SpecError

FORMAT = 1
NOTE = "queries to the specification answered again, the same replies: the exploration is an earlier one"


def taken_over(reuse: Reuse | None, name: str, explore: Callable[[], list[Verdict]]) -> list[Verdict]:
    """The verdicts of ``explore``, or those of an earlier run to which the specification replies alike.

    ``reuse``: where they lie, and what they depend on beside the specification; None explores. ``explore``: a
    function of what ``reuse`` represents and of the replies, alone.
    """
    if reuse is None:
        return explore()

    def noted() -> tuple[list[Verdict], Sequence[Asked]]:
        with asking() as asked:
            verdicts = explore()
        return verdicts, asked

    return taken_over_from(reuse, name, noted)


def taken_over_from(
    reuse: Reuse, name: str, explore: Callable[[], tuple[list[Verdict], Sequence[Asked]]]
) -> list[Verdict]:
    """The same of an exploration that says itself what it has asked: in other processes, for example. What
    has asked nothing is not kept.
    """
    path = reuse.folder / f"queries.{name}.json"
    known = _load(path, reuse)
    if known is not None:
        return known
    verdicts, asked = explore()
    _keep(path, reuse, asked, verdicts)
    return verdicts


def _load(path: Path, reuse: Reuse) -> list[Verdict] | None:
    try:
        text = read_sealed(path, version=FORMAT)
        body: dict[str, Any] = json.loads(text) if text is not None else {}
        ours = reuse.read or (reuse.run and body.get("run") == reuse.run)
        if not ours or body.get("code") != reuse.code:
            return None
        asked = [Asked.read(one) for one in body["asked"]]
        verdicts = [Verdict.model_validate(one) for one in body["verdicts"]]
        shown = any(one.counterexample is not None for one in verdicts)
        if not asked or not all(_replies_alike(one, shown=shown) for one in asked):
            return None
    except (DamagedError, ForeignError, ValueError, KeyError, TypeError, IndexError):
        return None
    number = sum(len(one.queries) for one in asked)
    note = f"{number} {NOTE}"
    return [amended(one, notes=(*one.notes, note)) for one in verdicts]


def _replies_alike(asked: Asked, *, shown: bool) -> bool:
    try:
        checker = StepChecker(asked.instance, ignored=asked.ignored, sound=asked.sound)
        return checker.replies_alike(asked, shown=shown)
    except (SpecError, BadInstance):
        return False  # the judge says what is wrong


def _keep(path: Path, reuse: Reuse, asked: Sequence[Asked], verdicts: Sequence[Verdict]) -> None:
    """Nothing undecided is kept. A full disk loses it, no more."""
    if any(one.outcome is Outcome.INCONCLUSIVE for one in verdicts) or not asked or not reuse.may_keep():
        return
    with suppress(TypeError, OSError):
        body = {
            "code": reuse.code,
            "run": reuse.run,
            "asked": [one.plain() for one in asked],
            "verdicts": [one.model_dump(mode="json") for one in verdicts],
        }
        text = json.dumps(body, separators=(",", ":"))
        write_sealed(path, text, version=FORMAT)
