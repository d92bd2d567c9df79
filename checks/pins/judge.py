"""Judge of the pins: does each claim and each step of a protocol say what is pinned?

A change of a claim changes no count and perhaps no verdict; here it is red by name, with its text now, until
the lock is written anew and reviewed.
"""

from collections.abc import Sequence

from tidemark.checks.verdicts.commands import check_command, pin_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Aspect, Subject, Verdict, holds, refuted
from tidemark.models.manifest import AnyEntry, Kind, PinsEntry
from tidemark.models.manifest.model import VARIANTS
from tidemark.models.pins.compare import Difference, differences
from tidemark.models.pins.items import said_by


class PinsJudge:
    """Judges ``[pins.NAME]`` entries."""

    name = "pins"
    kinds: frozenset[Kind] = frozenset()

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """A verdict for each pin and for each part that has none; one for all variants together."""
        if not isinstance(entry, PinsEntry):
            raise BadInputError(f"{entry.name!r} is no comparison of pins", remedy="name a [pins.NAME] entry")
        old = {pin.id: pin for pin in entry.compared}
        others = ((), ()) if entry.of_itself else (entry.variants, entry.readings)
        new = said_by(entry.protocol, *others)
        found = {one.id: one for one in differences(old, new)}
        names = dict.fromkeys([*new, *old])
        variants = [name for name in names if (old.get(name) or new[name].pin).of_variant]
        groups = {name: [found.get(name)] for name in names if name not in variants}
        if not entry.of_itself:
            groups[VARIANTS] = [found.get(name) for name in sorted(variants)]
        replay = check_command(self.name, entry.name)
        return [
            _verdict(context.subject(entry, self.name, name, Aspect.MEANING), group, replay=replay)
            for name, group in groups.items()
        ]


def _verdict(subject: Subject, compared: Sequence[Difference | None], *, replay: str) -> Verdict:
    differing = [one for one in compared if one is not None]
    counts = {"pins": max(1, len(compared))}
    if not differing:
        return holds(subject, counts=counts, bounds="the lock of claims", replay=replay)
    first, *others = differing
    more = f" (and {len(others)} more: {', '.join(one.id for one in others)})" if others else ""
    return refuted(
        subject,
        counts=counts,
        reason=first.headline + more,
        replay=replay,
        notes=(
            *("\n".join([one.headline, *(f"    {line}" for line in one.lines())]) for one in differing),
            f"the text before:  {pin_command(subject.protocol)} --against HEAD  (or another revision)",
            f"if this is meant:  {pin_command(subject.protocol)}  writes the lock anew, to be reviewed",
        ),
    )


JUDGE = PinsJudge()
