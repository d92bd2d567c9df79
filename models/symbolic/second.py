"""A second opinion: the queries of a proof, as SMT-LIB text, answered by another solver (cvc5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tidemark.models.symbolic.solve import Query

MILLISECONDS = 5_000
"""Limit of one query."""


_MEMBER = re.compile(r"\(_ (\S+) \1\)")
_EMPTY = re.compile(r"(?<=\s)(and|or)(?=[\s)])")


def standard(text: str) -> str:
    """SMT-LIB as the standard has it: Z3 writes a member of an enumeration and a conjunction of nothing in
    words of its own.
    """
    plain = _MEMBER.sub(r"\1", text)
    return _EMPTY.sub(lambda found: {"and": "true", "or": "false"}[found[1]], plain)


class Opinion(StrEnum):
    """What the other solver says to an answer of the first."""

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
    """``sat``, ``unsat``, or why there is neither."""

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


def compare(query: Query, *, milliseconds: int = MILLISECONDS) -> Compared:
    """Ask cvc5 the same. Raises ModuleNotFoundError if it is not there."""
    import cvc5

    solver: Any = cvc5.Solver()
    solver.setOption("tlimit-per", str(milliseconds))
    solver.setOption("seed", "0")
    parser: Any = cvc5.InputParser(solver)
    text = f"(set-logic ALL)\n{standard(query.text)}"
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, query.obligation)
    symbols: Any = parser.getSymbolManager()
    said = ""
    try:
        while not (command := parser.nextCommand()).isNull():
            said += str(command.invoke(solver, symbols))
    except RuntimeError as error:
        return Compared(query, f"cannot be read: {error}")
    return Compared(query, said.strip() or "no answer")
