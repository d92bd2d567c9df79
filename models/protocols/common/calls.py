"""Calls between simulated processes, with the errors of the implementation."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from tidemark.impl.errors import RpcError, RpcTimeoutError
from tidemark.models.simulation.errors import CallTimeoutError, CallUnavailableError
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


class _Calls:
    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    def __getattr__(self, method: str) -> Any:
        return partial(self._call, method)


def calls(
    process: Process,
    destination: str,
    *,
    given_up: Callable[[], None] = lambda: None,
    more: Callable[..., tuple[object, ...]] = lambda *_: (),
) -> Any:
    """Another process as this one sees it. A deadline is up when the world says so.

    Args:
        given_up: called when a call was given up.
        more: gives, for the arguments of a call that begins, those that travel with them.
    """

    async def call(method: str, *arguments: Any, deadline: float, **named: Any) -> Any:
        del deadline
        try:
            sent = (*arguments, *named.values(), *more(*arguments))
            return await remote(process, destination, method, *sent)
        except RpcTimeoutError:
            given_up()
            raise

    return _Calls(call)


def watched(client: Any, before: Callable[[Any], None], after: Callable[[Any, Any], None]) -> Any:
    """A client that tells the first argument of each call, and again with what was answered."""

    async def call(method: str, first: Any, *arguments: Any, deadline: float) -> Any:
        before(first)
        answer = await getattr(client, method)(first, *arguments, deadline=deadline)
        after(first, answer)
        return answer

    return _Calls(call)
