"""A test that is a coroutine has a loop of its own: of the class ``LOOP``, if its module has that."""

import asyncio
import inspect
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import pytest

from tests.impl.parts import run
from tidemark.impl.storage.etcd_server import EtcdServer


@pytest.fixture(scope="session")
def etcd(tmp_path_factory):
    """One server for all tests; each has keys of its own."""
    with EtcdServer(tmp_path_factory.mktemp("etcd")) as server:
        yield server


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine as ``run`` does. What a fixture has made that is to be awaited or entered, is.

    A test in every order has a loop of its own.
    """
    in_orders = pyfuncitem.get_closest_marker("every_order") is not None
    if in_orders or not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None

    async def work() -> None:
        async with AsyncExitStack() as stack:
            given: dict[str, Any] = {}
            for name in inspect.signature(pyfuncitem.obj).parameters:
                value = pyfuncitem.funcargs[name]
                if isinstance(value, AbstractAsyncContextManager):
                    value = await stack.enter_async_context(value)
                given[name] = await value if inspect.iscoroutine(value) else value
            await pyfuncitem.obj(**given)

    loop = getattr(pyfuncitem.module, "LOOP", asyncio.SelectorEventLoop)
    run(work(), loop=loop)
    return True
