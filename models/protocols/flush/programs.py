"""The flush programs, as the manifest names them."""

from typing import Any

from tidemark.models.protocols.flush.program import FlushProgram
from tidemark.models.protocols.flush.scenario import FlushScenario
from tidemark.models.refinement.scenario import program

flush = program(FlushProgram, FlushScenario)


def over_files(**given: Any) -> FlushProgram:
    """Return the program over the real adapters, with the same arguments."""
    from tidemark.models.protocols.flush.real_stores import RealStoresProgram  # needs pyarrow, an extra

    return program(RealStoresProgram, FlushScenario)(**given)
