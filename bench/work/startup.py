"""How long until a state is seen?"""

from __future__ import annotations

import time

from tidemark.bench.instances import subject
from tidemark.bench.sample import Sample


def first_state(*, reference: str, begun: float) -> Sample:
    """Import, trace, compile or load, expand the initial states. ``begun``: Unix time of the command."""
    from tidemark.models.native.kernel import compile_kernel
    from tidemark.models.native.search.breadth_first import Search, SearchLimits

    kernel = compile_kernel(subject(reference).instance)
    result = Search(kernel, SearchLimits(states=1)).run()
    seconds = time.time() - begun
    return Sample(
        seconds=seconds, counts={"initial": result.totals.initial}, values={"warm": float(kernel.warm)}
    )
