"""A second opinion: the queries of a proof, as SMT-LIB text, answered by another solver (cvc5)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tidemark.models.symbolic.solve import Query

WAYS: tuple[Mapping[str, str], ...] = (
    {},
    {"enum-inst": "true"},
    {"finite-model-find": "true"},
)
"""Settings of the other solver, tried in this order until it has an answer: its defaults, then all terms for
quantified variables without a pattern, then a search for finite models.
"""

UNITS = 300_000
"""Limit of one query in each way, in cvc5's units of work: about a second, on any machine."""

PATIENCE_MS = 120_000
"""A query also ends after this real time: cvc5 does not count all of its work."""

_MEMBER = re.compile(r"\(_ (\S+) \1\)")
_EMPTY = re.compile(r"(?<=\s)(and|or)(?=[\s)])")


def standard(text: str) -> str:
    """Standard SMT-LIB: Z3 has words of its own for a member of an enumeration and an empty conjunction."""
    plain = _MEMBER.sub(r"\1", text)
    return _EMPTY.sub(lambda found: {"and": "true", "or": "false"}[found[1]], plain)


class Opinion(StrEnum):
    """The other solver's answer, compared with the first one's."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    """One says unsat, the other sat: one of them is wrong."""
    UNKNOWN = "unknown"
    """It has no answer in time, or cannot read the query."""


@dataclass(frozen=True)
class Compared:
    """The answers of both solvers to one query."""

    query: Query
    other: str
    """``sat``, ``unsat``, or the reason why there is neither."""

    @property
    def opinion(self) -> Opinion:
        """How the answers compare."""
        if self.other not in ("sat", "unsat"):
            return Opinion.UNKNOWN
        return Opinion.AGREES if self.other == self.query.result else Opinion.CONTRADICTS


def decisive(queries: Sequence[Query]) -> list[Query]:
    """The queries that decided something: a model of fewer hypotheses decides nothing."""
    last = {(query.obligation, query.piece): query for query in queries}
    return [query for query in last.values() if query.result in ("sat", "unsat")]


def compare(query: Query, *, units: int = UNITS) -> Compared:
    """Ask cvc5 the same, within so many units of work. Raises ModuleNotFoundError if it is not installed."""
    said = ""
    for way in WAYS:
        said = _asked(query, way, units)
        if said in ("sat", "unsat"):
            break
    return Compared(query, said)


def _asked(query: Query, way: Mapping[str, str], units: int) -> str:
    """The answer of cvc5: ``sat``, ``unsat``, or the reason why there is neither."""
    import cvc5

    solver: Any = cvc5.Solver()
    fixed = {"rlimit-per": str(units), "tlimit-per": str(PATIENCE_MS), "seed": "0"}
    for name, value in {**fixed, **way}.items():
        solver.setOption(name, value)
    parser: Any = cvc5.InputParser(solver)
    text = f"(set-logic ALL)\n{standard(query.text)}"
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, query.obligation)
    symbols: Any = parser.getSymbolManager()
    said = ""
    try:
        while not (command := parser.nextCommand()).isNull():
            said += str(command.invoke(solver, symbols))
    except RuntimeError as error:
        return f"cannot be read: {error}"
    return said.strip() or "no answer"
