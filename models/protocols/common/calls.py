"""Calls between simulated processes, with the errors of the implementation."""

from typing import Any

from tidemark.impl.errors import RpcError, RpcTimeoutError
from tidemark.models.simulation.errors import (
    CallTimeoutError,
    CallUnavailableError,
)
from tidemark.models.simulation.world.process import Process


async def is_alone() -> bool:
    """Whether a coordinator is the newest, where no other one follows it while it runs."""
    return True


async def remote(process: Process, destination: str, method: str, *arguments: Any) -> Any:
    """Call another process and translate the failures of the world into those of the implementation."""
    try:
        return await process.call(destination, method, *arguments)
    except CallTimeoutError as error:
        raise RpcTimeoutError(f"{method}: {error}") from error
    except CallUnavailableError as error:
        raise RpcError(f"{method}: {error}") from error
