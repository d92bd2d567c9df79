"""Judge of the argument: is everything that a protocol takes for granted supported?

A guarantee is supported by a proof for any size, which the gate runs too; an assumption about the environment
by an entry that shows that it is needed. What is not supported is inconclusive, never green.
"""

from __future__ import annotations

from tidemark.checks.argument.graph import Reliance, whole_argument
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Verdict, holds, inconclusive
from tidemark.models.manifest import AnyEntry, ArgumentEntry, Kind


class ArgueJudge:
    """Judges ``[[argument]]`` entries."""

    name = "argue"
    kinds: frozenset[Kind] = frozenset()

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """One verdict for each thing that the protocol takes for granted."""
        if not isinstance(entry, ArgumentEntry):
            raise BadInputError(f"{entry.name!r} is not an argument", remedy="name an [[argument]] entry")
        argument = whole_argument(context.manifest)
        return [self._verdict(one, entry, context) for one in argument.reliances(context.manifest.name)]

    def _verdict(self, one: Reliance, entry: ArgumentEntry, context: Context) -> Verdict:
        subject = context.subject(entry, self.name, one.claim)
        replay = check_command("argue", entry.name)
        if one.problem:
            return inconclusive(subject, reason=f"{one.where}: {one.problem}", replay=replay)
        kind = "assumed, and needed as" if one.of_environment else "proved for any size by"
        return holds(subject, counts={"pins": 1}, bounds=f"{kind} {one.support}", replay=replay)


JUDGE = ArgueJudge()
