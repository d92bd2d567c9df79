"""What the queries about one protocol share: each expression is encoded once, by itself.

Neither a term nor its names depend on what was encoded before it, so a query is the same text whichever
queries came first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import z3

from tidemark.models.symbolic.encode import Z3, Choice, Encoder, Vocabulary
from tidemark.spec.language.expr import Expr, Local, free_locals
from tidemark.spec.language.spec import Spec


@dataclass(frozen=True)
class Term:
    """An expression as the solver is given it, and the choices that it needs."""

    term: Z3
    needs: tuple[Choice, ...]


class Terms:
    """The terms of one protocol, given with its options put in."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._vocabulary = Vocabulary(spec)
        self._encoder = Encoder(self._vocabulary)
        self._known: dict[tuple[Expr, tuple[Local, ...]], Term] = {}
        self._params: dict[Local, Z3] = {}

    @cached_property
    def typing(self) -> tuple[Z3, ...]:
        """What the types of constants and variables say."""
        declared = (*self.spec.constants, *self.spec.variables)
        return tuple(term for variable in declared for term in self._vocabulary.typing(variable))

    def ranges(self, params: Iterable[Local]) -> list[Z3]:
        """What the types of parameters say."""
        return [term for p in params for term in self._vocabulary.in_range(self._param(p), p.type)]

    def of(self, expr: Expr, params: Iterable[Local]) -> Term:
        """An expression over the state and some parameters. Raises UnprovableError."""
        free = free_locals(expr)
        given = tuple(param for param in params if param.name in free)
        if (expr, given) not in self._known:
            env: Mapping[str, Z3] = {param.name: self._param(param) for param in given}
            self._known[expr, given] = Term(*self._encoder.encode_all(expr, env))
        return self._known[expr, given]

    def _param(self, param: Local) -> Z3:
        if param not in self._params:
            self._params[param] = z3.Const(param.name, self._vocabulary.sort(param.type))
        return self._params[param]
