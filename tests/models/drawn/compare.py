"""Protocols drawn from some seeds, through the engines."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.models.drawn.engines import FALLS, Answer, answer, differences, engines, interpreted
from tests.models.drawn.reduce import reduced
from tests.models.drawn.text import Drawn, drawn
from tidemark.checks.spark.search.runners import Runner

EVERY = {"native": 1, "three": 1, "z3": 4, "rounds": 10, "spin": 0, "spark": 0}
"""An engine is asked about each so many-th seed; 0: not at all."""


@dataclass(frozen=True)
class Disagreement:
    """The engine's name, what it says otherwise, and the smallest protocol found of which it does so."""

    seed: int
    engine: str
    said: list[str]
    protocol: Drawn

    def __str__(self) -> str:
        text = "\n".join((f"# seed {self.seed}: {self.engine} disagrees with the interpreter", *self.said))
        return text.replace("\n", "\n#   ") + "\n" + self.protocol.shown()


class Comparison:
    """Counts what was seen, so that a comparison of nothing is noticed. ``folder``: for compiled kernels;
    ``tries``: smaller protocols that are tried for each disagreement.
    """

    def __init__(
        self,
        folder: Path,
        every: Mapping[str, int] = EVERY,
        *,
        tries: int = 2000,
        spark: Runner | None = None,
    ) -> None:
        self.folder, self.every, self.tries, self.known = folder, every, tries, engines(spark)
        self.seen: Counter[str] = Counter()

    def of(self, seeds: Iterable[int]) -> Iterator[Disagreement]:
        """What the engines disagree about, reduced."""
        for seed in seeds:
            protocol = drawn(seed)
            ours = answer(partial(interpreted, protocol))
            self._count(ours)
            for name, every in self.every.items():
                if every and seed % every == 0 and not (name == "z3" and protocol.is_wide):
                    self.seen[name] += 1
                    if differences(name, ours, self._said(name, protocol)):
                        yield self._shown(seed, name, protocol)

    def _count(self, ours: Answer) -> None:
        self.seen["falls"] += ours.get(FALLS) is not None
        self.seen["states"] += ours.get("distinct", 0)
        for value in (value for key, value in ours.items() if key.startswith("drawn.")):
            self.seen[f"decided after {value}" if type(value) is int else f"claims {value}"] += 1

    def _said(self, name: str, protocol: Drawn) -> Answer:
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            return answer(partial(self.known[name], protocol, Path(folder)))

    def _shown(self, seed: int, name: str, protocol: Drawn) -> Disagreement:
        def said(one: Drawn) -> list[str]:
            return differences(name, answer(partial(interpreted, one)), self._said(name, one))

        def kinds(one: Drawn) -> set[str]:
            return {line.partition(":")[0].rstrip("0123456789") for line in said(one)}

        wanted = kinds(protocol)
        small = reduced(protocol, lambda one: bool(kinds(one) & wanted), tries=self.tries)
        return Disagreement(seed, name, said(small), small)


def portion(seeds: range, every: dict[str, int]) -> tuple[list[str], dict[str, int]]:
    """Disagreements as texts, and what was seen."""
    with tempfile.TemporaryDirectory(prefix="drawn") as folder:
        comparison = Comparison(Path(folder), every)
        return [str(found) for found in comparison.of(seeds)], dict(comparison.seen)
