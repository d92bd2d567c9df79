"""A pytest plugin: ``@pytest.mark.every_order`` runs a coroutine test in every order of its steps.

Put ``pytest_plugins = ["tidemark.checks.interleave.pytest_plugin"]`` in the conftest.py at the root of the
tests. The marker takes ``order``, ``clock``, ``cancellations`` and ``executions`` by keyword;
``tidemark.checks.interleave.explore_coroutine`` says what they mean. Fixtures are set up once, before the
first execution: what executions change must be made by the test itself. ``--replay-order TOKEN`` runs the one
order of a token.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import replace
from typing import Any

import pytest

from tidemark.checks.interleave.coroutines import DEFAULT, replay_coroutine, require_every_order
from tidemark.checks.interleave.errors import OrderError
from tidemark.checks.verdicts.errors import CheckError
from tidemark.models.simulation import ClockOrder, Order
from tidemark.models.simulation.coroutines import Main

MARKER = "every_order"
_ALLOWED = {"order", "clock", "cancellations", "executions"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for replays."""
    parser.addoption("--replay-order", metavar="TOKEN", help="run the one order of this token")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(order='asyncio', clock='untimed', cancellations=0, executions=100000): "
        "run a coroutine test in every order of its steps",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test; leave all others to pytest."""
    marker = pyfuncitem.get_closest_marker(MARKER)
    if marker is None:
        return None
    options = dict(marker.kwargs)
    unknown = sorted(options.keys() - _ALLOWED)
    if marker.args or unknown:
        wrong = f"{unknown[0]!r}" if unknown else f"{marker.args[0]!r} without a keyword"
        pytest.fail(f"{MARKER} does not take {wrong}: give {', '.join(sorted(_ALLOWED))}", pytrace=False)
    if not inspect.iscoroutinefunction(inspect.unwrap(pyfuncitem.obj)):
        pytest.fail(f"{MARKER} marks {pyfuncitem.name}, which is not an `async def` function", pytrace=False)
    wanted = inspect.signature(pyfuncitem.obj).parameters
    main = functools.partial(pyfuncitem.obj, **{name: pyfuncitem.funcargs[name] for name in wanted})
    complaint = _complaint(main, pyfuncitem, options)
    if complaint is not None:
        pytest.fail(complaint, pytrace=False)
    return True


def _complaint(main: Main, item: pytest.Function, options: dict[str, Any]) -> str | None:
    """Run the test, and return what is wrong with it, in words."""
    bounds = {
        "order": options.get("order", Order.ASYNCIO),
        "clock": options.get("clock", ClockOrder.UNTIMED),
        "cancellations": options.get("cancellations", 0),
    }
    token = item.config.getoption("--replay-order")
    try:
        if token:
            violation = replay_coroutine(main, token, **bounds).violation
            return violation.message if violation is not None else None
        limits = replace(DEFAULT.limits, executions=options.get("executions", DEFAULT.limits.executions))
        require_every_order(main, **bounds, options=replace(DEFAULT, limits=limits))
    except OrderError as error:
        return f"{error}\nreplay: pytest {item.nodeid} --replay-order TOKEN"
    except CheckError as error:
        return str(error)
    return None
