"""What a model checker says about an instance: counts, and which claims it decided."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.search import Search as PlainSearch
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import Search


@dataclass(frozen=True)
class CheckerAnswer:
    """``decided``: ids of the invariants that are refuted and of the witnesses that are reached.

    ``generated`` counts the initial states and every successor. ``stopped`` says why the search is not
    complete; it is empty if it is.
    """

    distinct: int
    generated: int
    decided: frozenset[str]
    seconds: float
    stopped: str = ""


@dataclass(frozen=True)
class Comparison:
    """Ours beside another tool's. ``skipped`` says why the tool was not asked."""

    instance: str
    tool: str
    ours: CheckerAnswer | None = None
    theirs: CheckerAnswer | None = None
    skipped: str = ""
    failed: str = ""
    """Why the tool gave no answer at all."""

    def differences(self) -> list[str]:
        """What differs, in words; empty if both agree, or if nothing was compared."""
        if self.ours is None or self.theirs is None:
            return []
        found = [f"{self.tool}: {self.theirs.stopped}"] if self.theirs.stopped else []
        found += [f"ours: {self.ours.stopped}"] if self.ours.stopped else []
        for what, one, two in (
            ("distinct", self.ours.distinct, self.theirs.distinct),
            ("generated", self.ours.generated, self.theirs.generated),
        ):
            if one != two:
                found.append(f"{what}: ours {one:,}, {self.tool} {two:,}")
        found += [f"{claim}: decided by us only" for claim in sorted(self.ours.decided - self.theirs.decided)]
        found += [
            f"{claim}: decided by {self.tool} only"
            for claim in sorted(self.theirs.decided - self.ours.decided)
        ]
        return found

    def result(self) -> str:
        """One line."""
        if self.skipped:
            return f"left out: {self.skipped}"
        if self.failed:
            return f"FAILED: {self.failed}"
        differences = self.differences()
        return f"DIFFERS: {'; '.join(differences)}" if differences else "same"

    @property
    def agrees(self) -> bool:
        """Was something compared, and is it the same?"""
        return self.ours is not None and self.theirs is not None and not self.differences()


Judge = Callable[[Instance], CheckerAnswer]


def native(instance: Instance) -> CheckerAnswer:
    """The compiled kernel's answer. Raises NativeError, BadInstance."""
    begun = time.perf_counter()
    result = Search(compile_kernel(instance)).run()
    decided = (
        prop.id
        for prop in instance.spec.properties
        if prop.kind != "leads_to" and result.hit(prop) is not None
    )
    return CheckerAnswer(
        result.distinct,
        result.generated,
        frozenset(decided),
        time.perf_counter() - begun,
        stopped=result.stopped,
    )


def plain(instance: Instance) -> CheckerAnswer:
    """The interpreter's answer. Raises BadInstance."""
    begun = time.perf_counter()
    reached = PlainSearch(Interpreter(instance)).run()
    seconds = time.perf_counter() - begun
    return CheckerAnswer(len(reached.parents), reached.generated, frozenset(reached.found), seconds)
