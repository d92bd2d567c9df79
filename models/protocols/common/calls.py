"""Calls between simulated processes, with the errors of the implementation."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import isawaitable
from typing import Any

from tidemark.impl.errors import RpcError, RpcTimeoutError
from tidemark.models.simulation.errors import (
    CallTimeoutError,
    CallUnavailableError,
    StorageFailedError,
    StorageUnknownError,
)
from tidemark.models.simulation.world.process import Process


class Alone:
    """What a coordinator asks of the logs, where no other one follows it while it runs."""

    async def is_newest(self) -> bool:
        """It is."""
        return True


@contextmanager
def known_as(error: type[Exception], *failures: type[Exception]) -> Iterator[None]:
    """Failures, by default those of a store of the world, are this error of the implementation."""
    kinds = failures or (StorageFailedError, StorageUnknownError)
    try:
        yield
    except kinds as failure:
        raise error(str(failure)) from failure


async def remote(process: Process, destination: str, method: str, *arguments: Any) -> Any:
    """Call another process and translate the failures of the world into those of the implementation."""
    try:
        return await process.call(destination, method, *arguments)
    except CallTimeoutError as error:
        raise RpcTimeoutError(f"{method}: {error}") from error
    except CallUnavailableError as error:
        raise RpcError(f"{method}: {error}") from error


def as_remote(method: Callable[..., Any], *failures: type[Exception]) -> Callable[..., Awaitable[Any]]:
    """A handler that tells its caller of these failures of a method as of a failed call."""

    async def handler(*arguments: Any) -> Any:
        with known_as(RpcError, *failures):
            answer = method(*arguments)
            return await answer if isawaitable(answer) else answer

    return handler


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


def telling(client: Any, news: Callable[[], None]) -> Any:
    """A client that tells when one of its methods has changed something; ``load`` changes nothing."""

    async def call(method: str, *arguments: Any) -> Any:
        answer = await getattr(client, method)(*arguments)
        if method != "load":
            news()
        return answer

    return _Calls(call)


def watched(client: Any, before: Callable[[Any], None], after: Callable[[Any, Any], None]) -> Any:
    """A client that tells the first argument of each call, and again with what was answered."""

    async def call(method: str, first: Any, *arguments: Any, deadline: float) -> Any:
        before(first)
        answer = await getattr(client, method)(first, *arguments, deadline=deadline)
        after(first, answer)
        return answer

    return _Calls(call)
