"""``tidemark evidence --understood``: which lines of logs have a rule, and which lines each claim lacks."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tidemark.checks.evidence.monitors.run import MONITORS
from tidemark.checks.evidence.readers.log import HEAD
from tidemark.checks.evidence.readers.log_rules import RULES, Rule
from tidemark.checks.evidence.readers.wrapped import unwrapped
from tidemark.checks.evidence.table.files import Sort, Source, pieces
from tidemark.checks.evidence.table.read import Account, blocks
from tidemark.checks.evidence.table.whole import family

_VERSION = re.compile(rb'\bVersion\\*"?: ?\\*"?v?(\d+\.\d+[\w.+-]*)')
_SHOWN = 12
"""So many components without any rule are named."""


class Understood:
    """The lines of some logs, counted by the folder of Milvus's sources that wrote them."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.entries: Counter[str] = Counter()
        self.ruled: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.versions: Counter[str] = Counter()
        for piece in pieces(one for one in sources if one.sort is Sort.LOG):
            for data in blocks(piece, Account(piece.name)):
                for raw in data.split(b"\n"):
                    self._take(unwrapped(raw, piece.header))

    def _take(self, raw: bytes) -> None:
        for found in HEAD.finditer(raw):
            caller = found[3].decode("utf-8", "replace").partition(":")[0].partition("/")[0]
            self.entries[caller] += 1
            if rule := RULES.get(found[4] or found[5] or b""):
                self.ruled[caller] += 1
                self.kinds[rule.kind] += 1
        self.versions.update(one.decode() for one in _VERSION.findall(raw))

    def lines(self) -> Iterator[str]:
        """What is printed."""
        total, ruled = self.entries.total(), self.ruled.total()
        yield f"{ruled:,} of {total:,} entries have a rule ({_share(ruled, total)})"
        yield f"versions: {', '.join(sorted(self.versions)) or 'no line names one'}"
        yield f"{'component':<24} {'entries':>9} {'with a rule':>12}"
        idle = [name for name in self.entries if not self.ruled[name]]
        for name in sorted(self.ruled, key=lambda name: -self.ruled[name]):
            yield f"{name:<24} {self.entries[name]:>9,} {self.ruled[name]:>12,}"
        if idle:
            named = ", ".join(sorted(idle, key=lambda name: -self.entries[name])[:_SHOWN])
            count = sum(self.entries[name] for name in idle)
            yield f"without any: {len(idle)} components, {count:,} entries: {named}"
        yield "claims about logs, and the lines that each lacks:"
        yield from self._claims()

    def _claims(self) -> Iterator[str]:
        for one in MONITORS:
            if {family(kind) for kind in one.kinds} == {"log"}:
                lacking = one.lacks(self.kinds)
                head = f"  {one.property_id} ({one.name}):"
                yield f"{head} nothing" if not lacking else head
                yield from (f"    {line}" for kind in lacking for line in _written(kind))


def _written(kind: str) -> Iterator[str]:
    """Each message of a kind, who writes it, and since when."""
    rules: dict[bytes, Rule] = {message: rule for message, rule in RULES.items() if rule.kind == kind}
    for message, rule in rules.items():
        yield f"{kind}: {message.decode()!r} of the {rule.of}, since {rule.since}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "no entry"
