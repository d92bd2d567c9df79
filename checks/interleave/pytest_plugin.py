"""A pytest plugin: ``@pytest.mark.every_order`` runs a coroutine test in every order of its steps.

It is installed with the package; in a clone, put ``pytest_plugins =
["tidemark.checks.interleave.pytest_plugin"]`` in the conftest.py at the root of the tests. The marker takes
``order``, ``clock``, ``cancellations``, ``exempt``, ``merge``, ``strategy``, and the limits ``executions``,
``steps`` and ``seconds`` by keyword; ``tidemark.checks.interleave.explore_coroutine`` says what they mean.
Fixtures of function scope are set up anew for each execution. About a second of random orders and of those
with one delay comes first, then all orders, for 30 seconds unless ``seconds`` says otherwise; a search that
is cut fails. On a terminal, and with ``-v``, a line says how far a search is. ``--replay-order TOKEN`` runs
the one order of a token, of the tests to which it belongs.

A marked test runs on no loop but the controlled one, whatever ``asyncio_mode`` pytest-asyncio is in. A test
that its strategy leaves incomplete passes if nothing wrong is found, and is listed at the end of the run; so
is one with tasks that poll, of which the rounds that lead back to an earlier state were cut.

Fresh fixtures for each execution of a test: nothing that an execution changes may survive it.

Fixtures of function scope are torn down and set up again before each execution but the first, outside of
the simulation. Those of larger scopes are shared, as pytest says, and so are those of pytest itself
(``tmp_path``) but for ``monkeypatch``. pytest has no public way to do this; the three
calls that are used are those of plugins that run a test again.
"""

import contextlib
import functools
import inspect
import io
import time
import types
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from _pytest.unittest import TestCaseFunction

from tidemark.checks.interleave.coroutines import DEFAULT, program_of, replay_coroutine, require_every_order
from tidemark.checks.interleave.errors import OrderError
from tidemark.checks.interleave.executions.token import decode
from tidemark.checks.interleave.result import Exploration, Status
from tidemark.checks.verdicts.errors import CheckError
from tidemark.models.simulation import ClockOrder, Order, closed_world
from tidemark.models.simulation.coroutines import Main

_SHARED = ("_pytest.", "pytest_asyncio.")
"""Modules whose fixtures are not set up again: a loop that a marked test does not use; folders, streams."""


class Fixtures:
    """The fixtures of a test.

    Args:
        item: the test, after pytest has set up its fixtures.
        wanted: names of the fixtures that the test function takes.
    """

    def __init__(self, item: pytest.Function, wanted: tuple[str, ...]) -> None:
        self._item: Any = item
        self._wanted = wanted
        self._used = False
        self._is_fresh = any(self._is_renewed(found) for found in self._definitions())

    def values(self) -> dict[str, Any]:
        """Return the fixtures by name, for the next execution."""
        if self._used and self._is_fresh:
            with closed_world.outside():
                self._renew()
        self._used = True
        return {name: self._item.funcargs[name] for name in self._wanted}

    def _definitions(self) -> list[Any]:
        return list(self._item._request._fixture_defs.values())  # noqa: SLF001  # as the docstring says

    @staticmethod
    def _is_renewed(found: Any) -> bool:
        owner = getattr(found.func, "__module__", "") or ""
        own = not owner.startswith(_SHARED) or found.argname == "monkeypatch"
        return found.scope == "function" and own

    def _renew(self) -> None:
        """Tear down what is of function scope, the youngest first, and set it up again."""
        item, shared = self._item, []
        for found in reversed(self._definitions()):
            if self._is_renewed(found):
                found.finish(item._request)  # noqa: SLF001  # as above
            else:
                shared.append(found._finalizers)  # noqa: SLF001  # as above
        # Each set-up registers with the test, and with the fixtures that it uses, how to tear it down. The
        # first registration is enough: it tears down whatever the fixture holds then.
        registered = [item.session._setupstate.stack[item][0], *shared]  # noqa: SLF001  # as above
        before = [len(finalizers) for finalizers in registered]
        item._initrequest()  # noqa: SLF001  # as above
        item._request._fillfixtures()  # noqa: SLF001  # as above
        for finalizers, count in zip(registered, before, strict=True):
            del finalizers[count:]


MARKER = "every_order"
_LIMITS = ("executions", "seconds", "steps")
_ALLOWED = {"order", "clock", "cancellations", "exempt", "merge", "strategy", *_LIMITS}
_SECONDS = 30.0
"""Seconds that a test may take unless it says otherwise: more, it is told, is a decision."""
_ORDERS = "orders of every_order"
"""The property of a report that says which orders were run, if not all of them."""
_POLLS = "polls of every_order"
"""The property of a report that says what was cut because it leads back to an earlier state."""
_SECTIONS = {_ORDERS: "passed in some orders only", _POLLS: "passed in every order, rounds of polls were cut"}

Outcomes = list[BaseException]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for replays."""
    parser.addoption("--replay-order", metavar="TOKEN", help="run the one order of this token")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(order='asyncio', clock='untimed', cancellations=0, exempt=(), merge=False, strategy=None, "
        "executions=100000, steps=2000, seconds=30): run a coroutine test in every order of its steps",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out marked tests to which the token of a replay does not belong."""
    token = config.getoption("--replay-order")
    if not token:
        return
    with contextlib.suppress(CheckError):  # a damaged token is an error of each test
        wanted = decode(token).program
        others = [item for item in items if _marker(item) is not None and _digest(item) != wanted]
        if len(others) < sum(_marker(item) is not None for item in items):
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if item not in others]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Refuse a marked test that cannot be run in every order; take it from the plugin that would run it."""
    if _marker(item) is None:
        return
    if isinstance(item, TestCaseFunction):
        _refuse(
            item, "belongs to a unittest.TestCase, which runs it on a loop of its own: make it a function"
        )
    if isinstance(item, pytest.Function):
        if hasattr(item.obj, "hypothesis") or getattr(item.obj, "is_hypothesis_test", False):
            _refuse(item, "is a test of Hypothesis: call explore_coroutine inside of the test instead")
        if not inspect.iscoroutinefunction(inspect.unwrap(item.obj)):
            _refuse(item, "is not an `async def` function")
        # A plugin for coroutine tests gives them a class whose `runtest` has a loop.
        item.runtest = types.MethodType(pytest.Function.runtest, item)  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test; leave all others to pytest."""
    marker = _marker(pyfuncitem)
    if marker is None:
        return None
    options = dict(marker.kwargs)
    unknown = sorted(options.keys() - _ALLOWED)
    if marker.args or unknown:
        wrong = f"{unknown[0]!r}" if unknown else f"{marker.args[0]!r} without a keyword"
        pytest.fail(f"{MARKER} does not take {wrong}: give {', '.join(sorted(_ALLOWED))}", pytrace=False)
    outcomes: Outcomes = []
    complaint = _complaint(_main(pyfuncitem, outcomes), pyfuncitem, options)
    if outcomes:
        raise outcomes[0]
    if complaint is not None:
        pytest.fail(complaint, pytrace=False)
    return True


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the tests that have passed in some orders only, and those in which polls were cut."""
    for section, title in _SECTIONS.items():
        lines = [
            f"{report.nodeid}: {value}"
            for report in terminalreporter.stats.get("passed", [])
            for name, value in report.user_properties
            if name == section
        ]
        if lines:
            terminalreporter.section(f"{MARKER}: {title}")
            for line in lines:
                terminalreporter.line(line)


class _Progress:
    """A line that says how far the search of a test is: one that changes on a terminal; with ``-v`` elsewhere
    one after about a second, two, four, and so on.
    """

    def __init__(self, item: pytest.Item) -> None:
        plugins = item.config.pluginmanager
        self._terminal: Any = plugins.get_plugin("terminalreporter")
        self._capture: Any = plugins.get_plugin("capturemanager")
        self._name = item.name
        self._began = time.perf_counter()
        self._next = 0.5

    def __call__(self, result: Exploration) -> None:
        """Say it."""
        terminal = self._terminal
        seconds = time.perf_counter() - self._began
        if terminal is None or self._capture is None or not (terminal.isatty or terminal.verbosity > 0):
            return
        words = f"{self._name}: {result.done} executions, {seconds:.0f} s {result.forecast()}"
        with self._capture.global_and_fixture_disabled():
            if terminal.isatty:
                terminal.rewrite(words[: terminal._tw.fullwidth - 2], erase=True)  # noqa: SLF001
                terminal.flush()
            elif seconds >= self._next:
                self._next *= 2
                terminal.ensure_newline()
                terminal.write(f"{words}\n", flush=True)


def _marker(item: pytest.Item) -> pytest.Mark | None:
    return item.get_closest_marker(MARKER)


def _refuse(item: pytest.Item, why: str) -> NoReturn:
    pytest.fail(f"{MARKER} marks {item.name}, which {why}", pytrace=False)


def _digest(item: pytest.Item) -> str:
    """Return the digest of a test's program in its tokens."""
    marker = _marker(item)
    assert marker is not None
    function = getattr(item, "obj", None)
    if not callable(function):
        return ""
    return program_of(function, **_bounds(marker.kwargs)).digest()


def _bounds(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "order": options.get("order", Order.ASYNCIO),
        "clock": options.get("clock", ClockOrder.UNTIMED),
        "cancellations": options.get("cancellations", 0),
        "exempt": options.get("exempt", ()),
    }


def _main(item: pytest.Function, outcomes: Outcomes) -> Main:
    """Return the test as a function without arguments: each call has fresh fixtures.

    ``outcomes``: where ``pytest.skip`` and ``pytest.xfail`` inside of the test go.
    """
    wanted = tuple(inspect.signature(item.obj).parameters)
    fixtures = Fixtures(item, wanted)

    @functools.wraps(item.obj)
    async def main(values: dict[str, Any]) -> Any:
        try:
            return await item.obj(**values)
        except (pytest.skip.Exception, pytest.xfail.Exception) as outcome:
            outcomes.append(outcome)
            raise

    @functools.wraps(item.obj)
    def begin() -> Any:
        return main(fixtures.values())

    return begin


def _complaint(main: Main, item: pytest.Function, options: dict[str, Any]) -> str | None:
    """Run the test, and return what is wrong with it, in words."""
    bounds = _bounds(options)
    token = item.config.getoption("--replay-order")
    try:
        if token:
            violation = replay_coroutine(main, token, **bounds).violation
            return violation.message if violation is not None else None
        given = {name: options[name] for name in _LIMITS if name in options}
        limits = replace(DEFAULT.limits, **({"seconds": _SECONDS} | given))
        try:
            with _silence(item):
                result = require_every_order(
                    main,
                    **bounds,
                    merge=options.get("merge", False),
                    strategy=options.get("strategy"),
                    options=replace(DEFAULT, limits=limits),
                    walks=True,
                    tick=_Progress(item),
                )
        except OrderError as error:
            replay_coroutine(main, error.token, **bounds)  # what this order prints is shown, and only that
            return f"{error}\nreplay: pytest {item.nodeid} --replay-order TOKEN"
        if result.status is not Status.EXHAUSTED:
            item.user_properties.append((_ORDERS, f"{result.statistics.executions}, {result.reason}"))
        elif result.earlier:
            item.user_properties.append((_POLLS, result.earlier))
    except CheckError as error:
        return str(error)
    return None


@contextlib.contextmanager
def _silence(item: pytest.Function) -> Iterator[None]:
    """Drop what the orders print, unless the test itself wants to read it."""
    if {"capsys", "capfd", "capsysbinary", "capfdbinary"} & set(item.fixturenames):
        yield
        return
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield
