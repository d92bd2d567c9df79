"""Scripted programs that compare what they see with what is due, one thing after the other."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.models.protocols.common.scripted import Script, ScriptedProgram


class ComparedProgram(ScriptedProgram):
    """What differs first is what is wrong. A subclass may set ``_problem`` itself, with a claim id first."""

    def __init__(self, scripts: Sequence[Script], *, timers: int) -> None:
        super().__init__(scripts, timers=timers)
        self._problem: str | None = None

    def compare(self, claim: str, what: str, found: object, due: object) -> None:
        """Note that ``what`` was found otherwise than it is due."""
        if found != due and self._problem is None:
            self._problem = f"{claim}: {what}: {found!r}, and not {due!r}"

    def wrong(self) -> str | None:
        """See ScriptedProgram."""
        return self._problem

    def wrong_after_a_step(self) -> str | None:
        """See ScriptedProgram."""
        return self._problem
