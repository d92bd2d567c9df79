"""Is there an order of the calls so far, each between its begin and its end, that explains all answers?

That is linearisability; with power failures it is durable linearisability: a call that has ended, with an
answer, has taken effect for good, and one that was under way has, or has not, as a whole. A call that has
failed may have taken effect too, then or later, until the power fails.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

State = Any
Answer = Hashable


class Call(NamedTuple):
    """What a user asks of a store."""

    name: str
    arguments: tuple[Any, ...]


Contract = Callable[[State, Call], "tuple[State, Answer] | None"]
"""What a store does that does nothing else meanwhile; None: the call has to wait."""
Left = Callable[[State], "Iterable[State]"]
"""What a power failure may leave of a state."""


class Order:
    """All orders that explain what was answered so far.

    Args:
        contract: of the store.
        first: what it holds at first.
        left: what a power failure may leave; by default everything that was answered.
    """

    def __init__(self, contract: Contract, first: State, *, left: Left = lambda state: (state,)) -> None:
        self._contract = contract
        self._left = left
        self._open: dict[int, Call] = {}
        self._possible: frozenset[tuple[State, frozenset[tuple[int, Answer]]]]
        self._possible = frozenset({(first, frozenset())})

    def begins(self, number: int, call: Call) -> None:
        """A call begins."""
        self._open[number] = call

    def ends(self, number: int, answer: Answer) -> bool:
        """A call ends with an answer. False if no order explains it."""
        done = (number, answer)
        self._possible = frozenset(
            (state, taken - {done}) for state, taken in self._reached() if done in taken
        )
        del self._open[number]
        return bool(self._possible)

    def power_fails(self) -> None:
        """Each call that has not ended with an answer has taken effect, or never will."""
        reached = {state for state, _ in self._reached()}
        self._possible = frozenset((left, frozenset()) for state in reached for left in self._left(state))
        self._open.clear()

    def may_wait(self, number: int) -> bool:
        """Whether a call that has not ended has nothing to answer yet, as far as one can tell."""
        return any(self._contract(state, self._open[number]) is None for state, _ in self._possible)

    def expected(self, number: int) -> list[Answer]:
        """What the call may answer now, for a message."""
        return sorted({a for _, taken in self._reached() for n, a in taken if n == number}, key=repr)

    def _reached(self) -> set[tuple[State, frozenset[tuple[int, Answer]]]]:
        """Let any of the open calls take effect, in any order."""
        found = set(self._possible)
        new = list(found)
        while new:
            state, taken = new.pop()
            known = {number for number, _ in taken}
            for number, call in self._open.items():
                if number in known:
                    continue
                effect = self._contract(state, call)
                if effect is None:
                    continue
                after = (effect[0], taken | {(number, effect[1])})
                if after not in found:
                    found.add(after)
                    new.append(after)
        return found
