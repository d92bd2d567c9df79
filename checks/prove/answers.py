"""Answers of the solver that are kept between runs: an obligation that is the same is not proved again.

What is kept is ``proved`` alone. The key of an answer holds all that ``Prover.attempt`` reads: the
declarations of the protocol, the obligation with its hypotheses, its action, the limit; that of the file
holds the code, the solver and the seed. Which claims an answer used is kept with it: a claim that is no
longer proved takes away what rests on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tidemark.checks.verdicts.reuse import Reuse
from tidemark.checks.verdicts.sealed import DamagedError, ForeignError, read_sealed, write_sealed
from tidemark.models.digest import content_digest
from tidemark.models.symbolic.obligations import Obligation
from tidemark.models.symbolic.solve import Answer
from tidemark.spec.language.spec import Spec

FORMAT = 1


class Answers:
    """The kept answers of one proof.

    Args:
        reuse: where they lie and for which code; None keeps nothing.
        name: name of the proof's entry.
    """

    def __init__(self, reuse: Reuse | None, name: str) -> None:
        self._reuse = reuse
        self._path = None if reuse is None else reuse.folder / f"obligations.{name}.json"
        self._before = self._load() if reuse is not None and reuse.read else {}

    def known(self, obligations: Mapping[str, Obligation]) -> dict[str, Answer]:
        """Answers to the obligations, given by key, as far as they are kept."""
        return {
            key: Answer(
                obligation.name,
                "proved",
                self._before[key]["seconds"],
                self._before[key]["queries"],
                frozenset(self._before[key]["used"]),
            )
            for key, obligation in obligations.items()
            if key in self._before
        }

    def keep(self, answers: Mapping[str, Answer]) -> None:
        """Keep those that are proved, and drop what is not among them. A full disk loses them, no more."""
        if self._path is None or self._reuse is None or not self._reuse.may_keep():
            return
        plain = {
            key: {"seconds": one.seconds, "queries": one.queries, "used": sorted(one.used)}
            for key, one in answers.items()
            if one.status == "proved"
        }
        with suppress(OSError):
            write_sealed(self._path, json.dumps([self._reuse.code, plain]), version=FORMAT)

    def _load(self) -> dict[str, dict[str, Any]]:
        assert isinstance(self._path, Path)
        assert self._reuse is not None
        try:
            body = read_sealed(self._path, version=FORMAT)
            code, found = json.loads(body) if body is not None else ("", {})
        except (DamagedError, ForeignError, ValueError):
            return {}
        return found if code == self._reuse.code else {}


def keys(spec: Spec, obligations: tuple[Obligation, ...], *, timeout_s: float) -> list[str]:
    """The key of each obligation: equal in every process, different if anything differs that is read."""
    declared = (
        spec.constants,
        spec.variables,
        tuple(sorted(spec.initial.items())),
        tuple(sorted(spec.options.items())),
        tuple((p.expr, p.params) for p in spec.assumptions),
        spec.initially,
        timeout_s,
    )
    common = content_digest(declared)
    actions = {
        action.name: content_digest(
            (action.params, tuple(guard.expr for guard in action.guards), action.updates)
        )
        for action in spec.actions
    }
    return [
        content_digest((common, actions.get(obligation.action, ""), obligation)) for obligation in obligations
    ]
