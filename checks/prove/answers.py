"""Answers of the solver that are kept between runs and between proofs: what was proved is not proved again.

What is kept is ``proved`` alone, with the claims that were used. It says: the hypotheses, these claims and
the types of the declared variables imply the goal. So an answer may be used for an obligation with the same
goal and hypotheses, in which the same claims say the same and the same variables are declared; whatever else
may be assumed there changes nothing. The key of the file holds the code, the solver and the seed. A claim
that is no longer proved takes away what rests on it.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tidemark.checks.verdicts.reuse import Reuse
from tidemark.checks.verdicts.sealed import DamagedError, ForeignError, read_sealed, write_sealed
from tidemark.models.digest import content_digest
from tidemark.models.symbolic.obligations import Obligation
from tidemark.models.symbolic.solve import Answer
from tidemark.spec.language.spec import Spec

FORMAT = 2


@dataclass(frozen=True)
class Question:
    """An obligation as far as an answer may depend on it.

    Args:
        obligation: it.
        limit: digest of how long it may take.
    """

    obligation: Obligation
    limit: str

    @cached_property
    def key(self) -> str:
        """What must be the same word for word: goal, parameters and hypotheses; equal in every process."""
        one = self.obligation
        asked = (one.name, one.kind, one.claim, one.goal, one.action, one.params, one.hypotheses)
        return content_digest((self.limit, asked))

    def support(self, used: Sequence[str]) -> str:
        """Digest of what some claims say here, of the state before and of the state after; empty if one of
        them is not among those that may be assumed.
        """
        wanted = frozenset(used)
        said = tuple(
            tuple(sorted((fact.source, content_digest(fact.expr)) for fact in facts if fact.source in wanted))
            for facts in (self.obligation.lemmas, self.obligation.post_invariants)
        )
        known = {name for facts in said for name, _ in facts}
        return content_digest(said) if wanted <= known else ""


@dataclass(frozen=True)
class _Kept:
    """One answer of the file."""

    seconds: float
    queries: int
    used: tuple[str, ...]
    support: str
    """What the used claims said."""


class Answers:
    """The kept answers of one proof, and those of other proofs that may serve it.

    Args:
        reuse: where they lie and for which code; None keeps nothing.
        name: name of the proof's entry.
        others: names of entries whose answers are looked at too, variants of the same protocol.
    """

    def __init__(self, reuse: Reuse | None, name: str, *, others: Sequence[str] = ()) -> None:
        self._reuse = reuse
        self._names = tuple(dict.fromkeys((name, *others)))

    def known(self, spec: Spec, obligations: Mapping[int, Question]) -> dict[int, Answer]:
        """Answers to the obligations, given by any number, as far as they are kept."""
        found: dict[int, Answer] = {}
        declared = _declared(spec)
        for name in self._names if self._reuse is not None else ():
            for number, one in self._load(name, declared, obligations).items():
                found.setdefault(number, one)
        return found

    def keep(self, spec: Spec, answers: Mapping[int, tuple[Question, Answer]]) -> None:
        """Keep those that are proved, and drop what is not among them. A full disk loses them, no more."""
        if self._reuse is None or not self._reuse.may_keep():
            return
        plain = {
            question.key: [one.seconds, one.queries, sorted(one.used), question.support(tuple(one.used))]
            for question, one in answers.values()
            if one.status == "proved"
        }
        body = {
            "code": self._reuse.code,
            "run": self._reuse.run,
            "declared": sorted(_declared(spec)),
            "answers": plain,
        }
        with suppress(OSError):
            write_sealed(self._path(self._names[0]), json.dumps(body), version=FORMAT)

    def _load(
        self, name: str, declared: frozenset[str], obligations: Mapping[int, Question]
    ) -> dict[int, Answer]:
        """What the answers of one proof say about the obligations."""
        assert self._reuse is not None
        try:
            text = read_sealed(self._path(name), version=FORMAT)
            body: dict[str, Any] = json.loads(text) if text is not None else {}
        except (DamagedError, ForeignError, ValueError):
            return {}
        ours = self._reuse.read or (self._reuse.run and body.get("run") == self._reuse.run)
        if not ours or body.get("code") != self._reuse.code or not declared.issuperset(body["declared"]):
            return {}
        found = {}
        for number, question in obligations.items():
            if question.key in body["answers"]:
                kept = _Kept(*body["answers"][question.key])
                if kept.support and kept.support == question.support(kept.used):
                    title, used = question.obligation.name, frozenset(kept.used)
                    found[number] = Answer(title, "proved", kept.seconds, kept.queries, used)
        return found

    def _path(self, name: str) -> Path:
        assert self._reuse is not None
        return self._reuse.folder / f"obligations.{name}.json"


def _declared(spec: Spec) -> frozenset[str]:
    """Digests of the declarations of variables and constants: their types are assumed by every query."""
    return frozenset(content_digest(one) for one in (*spec.constants, *spec.variables))


def questions(obligations: Sequence[Obligation], *, timeout_s: float) -> list[Question]:
    """The obligations as they are looked up. ``timeout_s``: the limit of each."""
    limit = content_digest(timeout_s)
    return [Question(one, limit) for one in obligations]
