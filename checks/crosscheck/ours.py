"""Our own answer, in the form in which it is compared."""

from __future__ import annotations

import time
from collections.abc import Callable

from tidemark.checks.crosscheck.outcome import CheckerAnswer
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.search import Search as PlainSearch
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import Search, SearchLimits

Judge = Callable[[Instance], CheckerAnswer]


def native(instance: Instance, *, limit: int | None = None) -> CheckerAnswer:
    """The compiled kernel's answer. Raises NativeError, BadInstance."""
    begun = time.perf_counter()
    result = Search(compile_kernel(instance), SearchLimits(states=limit)).run()
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


def plain(instance: Instance, *, limit: int | None = None) -> CheckerAnswer:
    """The interpreter's answer. Raises BadInstance."""
    begun = time.perf_counter()
    reached = PlainSearch(Interpreter(instance), limit=limit).run()
    return CheckerAnswer(
        len(reached.parents),
        reached.generated,
        frozenset(reached.found),
        time.perf_counter() - begun,
        stopped="" if reached.complete else f"more than {limit} states",
    )
