"""Who acts in a counterexample, and who gets a message: the lanes and arrows of its diagrams.

A step of the implementation names its process, and a message by a label such as ``deliver node 1#3
store.write``. A step of a specification names the nodes among its parameters (``Step.lanes``).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tidemark.checks.verdicts.counterexample import Counterexample, Step

PROTOCOL = "protocol"
"""The lane of steps that name no node."""

_MESSAGE = re.compile(
    r"(?P<verb>deliver|overtake|reply|lose reply|drop|duplicate|delay) "
    r"(?P<sender>.+?)#\d+ (?P<receiver>.+)\.[^. ]+(?: .*)?"
)
_INCARNATION = re.compile(r"@\d+$")
_BACK = ("reply", "lose reply")
_LOST = ("lose reply", "drop", "delay")


class Arrow(NamedTuple):
    """A message of a step: numbers of the lanes, and whether it does not arrive (now)."""

    source: int
    target: int
    lost: bool = False


class Lanes:
    """The lanes of a counterexample, in order of appearance."""

    def __init__(self, trace: Counterexample) -> None:
        pairs = [_ends(step) for step in trace.steps]
        found = dict.fromkeys(name for pair in pairs for name in (pair[0], pair[1]) if name)
        self.names: list[str] = list(found) or [PROTOCOL]
        self._at = {name: number for number, name in enumerate(self.names)}

    def of(self, step: Step) -> int:
        """The lane on which a step happens: that of the receiver for a message that arrives."""
        arrow = self.arrow(step)
        if arrow is None:
            return self._at.get(_ends(step)[0], 0)
        return arrow.source if arrow.lost else arrow.target

    def arrow(self, step: Step) -> Arrow | None:
        """The message of a step, if it is one between two lanes."""
        source, target, lost = _ends(step)
        if not target or source == target:
            return None
        return Arrow(self._at[source], self._at[target], lost)


def _ends(step: Step) -> tuple[str, str, bool]:
    """From whom, to whom (empty: no other node), and whether it is lost on the way."""
    if step.lanes:
        return step.lanes[0], step.lanes[1] if len(step.lanes) > 1 else "", False
    if not step.actor:
        return PROTOCOL, "", False
    message = _MESSAGE.fullmatch(step.action)
    if message is None:
        return step.actor, "", False
    sender, receiver = _INCARNATION.sub("", message["sender"]), message["receiver"]
    verb = message["verb"]
    ends = (receiver, sender) if verb in _BACK else (sender, receiver)
    return *ends, verb in _LOST
