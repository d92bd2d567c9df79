"""Searching an instance: by the plain interpreter, by the compiled kernel."""

from __future__ import annotations

from tidemark.bench.instances import subject
from tidemark.bench.sample import Sample
from tidemark.bench.work.clock import Clock

_WARM = 20_000
"""States of a first search that only loads compiled code, that of the growing table included."""


def interpreted(*, reference: str) -> Sample:
    """All states, by the interpreter."""
    from tidemark.models.interpreted.interpreter import Interpreter
    from tidemark.models.interpreted.search import Search

    interpreter = Interpreter(subject(reference).instance)
    clock = Clock()
    reached = Search(interpreter).run()
    return Sample(
        seconds=clock.seconds,
        cpu_seconds=clock.cpu_seconds,
        counts={"distinct": len(reached.parents), "generated": reached.generated, "depth": reached.depth},
    )


def native(*, reference: str, workers: int) -> Sample:
    """All states, by the compiled kernel. Loading the code is not part of the time."""
    from tidemark.models.native.kernel import compile_kernel
    from tidemark.models.native.search.breadth_first import Search, SearchLimits

    kernel = compile_kernel(subject(reference).instance)
    Search(kernel, SearchLimits(states=_WARM), workers=workers).run()
    search = Search(kernel, workers=workers)
    clock = Clock()
    result = search.run()
    seconds, cpu_seconds = clock.seconds, clock.cpu_seconds
    if result.stopped:
        raise RuntimeError(f"the search of {reference} is incomplete: {result.stopped}")
    return Sample(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        counts={"distinct": result.distinct, "generated": result.generated, "depth": result.depth},
        values={"bytes_per_state": result.visited.bytes_per_state, "words": kernel.words},
    )
