"""The guard around the closed world: real clocks, network, files, threads and randomness are refused.

Where a program runs on a virtual machine (``tidemark.models.simulation.virtual``), the machine answers in
place of a refusal as far as it can.

Two nets. The first one is always up while code of a program runs: an audit hook sees files, sockets,
processes, threads and databases being opened, and the functions of ``time``, ``random``, ``os``, ``uuid`` and
``secrets`` that are looked up through their module are replaced. The second one, ``strict``, sees each call
of a C function by identity, and so also a clock in a default argument and ``datetime.now()``; it costs about
half of the speed and is used for a sample of the runs. Imports and the logging module pass through. A name
that a module has imported (``from time import time``) is replaced there for the time of an exploration.
"""

import asyncio
import contextlib
import datetime as dt
import os
import random
import secrets
import select
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any

from tidemark.models.simulation.errors import ClosedWorldError
from tidemark.models.simulation.spinning import WATCH
from tidemark.models.simulation.virtual import ANSWERS, Machine, PollingError

_GLOBAL_RANDOM: object = random.random.__self__  # type: ignore[attr-defined]  # a method of it
_CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
_MODULES: tuple[tuple[ModuleType | type, tuple[str, ...]], ...] = (
    (time, (*_CLOCKS, *(f"{name}_ns" for name in _CLOCKS), "sleep")),
    (
        random,
        tuple(
            name
            for name, function in sorted(vars(random).items())
            if getattr(function, "__self__", None) is _GLOBAL_RANDOM
        ),
    ),
    (random, ("_urandom",)),
    (os, ("urandom", "getpid", "getrandom", "stat", "lstat")),
    (select, ("select", "poll", "epoll")),
    (signal, ("signal", "alarm", "setitimer", "pause", "sigwait")),
    (uuid, ("uuid1", "uuid4")),
    (threading, ("_start_new_thread", "_start_joinable_thread")),
    (secrets, ("token_bytes", "token_hex", "randbits", "choice")),
    (threading.Condition, ("wait",)),
)
_WITHOUT_ARGUMENT: tuple[tuple[ModuleType | type, str, int], ...] = (
    (time, "gmtime", 1),
    (time, "localtime", 1),
    (time, "ctime", 1),
    (time, "asctime", 1),
    (time, "strftime", 2),
    (random.Random, "seed", 2),
)
"""Functions that ask the machine when they are given fewer arguments than this, or None as the last one."""
_HARMLESS = frozenset({"builtins.id", "object.__getattr__", "gc.get_referents"})
"""Names of the audit events that come most often: what they stand for stays in this process."""
_AUDITED = (
    "open",
    "socket.",
    "subprocess.",
    "os.listdir",
    "os.scandir",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "sqlite3.connect",
    "time.sleep",
)
_FOREIGN_METHODS = (
    dt.datetime.now,
    dt.datetime.utcnow,
    dt.datetime.today,
    dt.date.today,
)
_PASS_THROUGH = ("<frozen", "importlib", "logging", "linecache", "tokenize", "/pdb.py")


class _Guard:
    """State of the guard in this interpreter; there is one controlled loop at a time. ``armed``: code of the
    program is running. ``installed``: an exploration is under way. ``machine`` answers in place of a refusal.
    """

    def __init__(self) -> None:
        self.armed = False
        self.installed = False
        self.hooked = False
        self.complaints: list[tuple[str, str]] = []
        self.machine: Machine | None = None
        self.thread = 0


GUARD = _Guard()
"""Code that runs the program sets ``armed`` to ``installed`` before, and to False afterwards."""


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Put the guard in place for the duration of an exploration."""
    if GUARD.installed:
        yield
        return
    if not GUARD.hooked:
        sys.addaudithook(_audit)
        GUARD.hooked = True
    needed = {(module, name): count for module, name, count in _WITHOUT_ARGUMENT}
    names = [*_present(), *needed]
    saved: list[tuple[Any, str, Any]] = [(module, name, getattr(module, name)) for module, name in names]
    replaced: dict[int, Any] = {}
    for module, name, original in saved:
        needs = needed.get((module, name))
        replaced[id(original)] = _replacement(_full_name(module, name), original, needs=needs)
        setattr(module, name, replaced[id(original)])
    for module, name, original in _imported_names(frozenset(replaced)):
        saved.append((module, name, original))
        setattr(module, name, replaced[id(original)])
    GUARD.installed = True
    GUARD.thread = threading.get_ident()
    try:
        with WATCH.watching():
            yield
    finally:
        GUARD.installed = False
        for module, name, original in saved:
            setattr(module, name, original)


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """Run code that belongs to the surroundings of a program, such as a fixture of its test: unguarded."""
    armed, loop = GUARD.armed, asyncio._get_running_loop()  # noqa: SLF001  # documented for authors of loops
    GUARD.armed = False
    asyncio._set_running_loop(None)  # noqa: SLF001  # as above
    try:
        yield
    finally:
        GUARD.armed = armed
        asyncio._set_running_loop(loop)  # noqa: SLF001  # as above


_looked_at: dict[str, tuple[ModuleType, tuple[str, ...]]] = {}
"""Modules that were looked at, with the names in them that stand for a function that asks the machine."""


def _imported_names(originals: frozenset[int]) -> Iterator[tuple[ModuleType, str, object]]:
    """Return names of such functions, given by ``id``, in modules outside of the standard library."""
    for title, module in list(sys.modules.items()):
        known = _looked_at.get(title)
        if known is None or known[0] is not module:
            known = _looked_at[title] = (module, _borrowed(module, originals))
        for name in known[1]:
            found = vars(module).get(name)
            if id(found) in originals:
                yield module, name, found


def _borrowed(module: ModuleType, originals: frozenset[int]) -> tuple[str, ...]:
    file = getattr(module, "__file__", None) or _STANDARD
    if file.startswith((_STANDARD, _PACKAGE)) and "site-packages" not in file:
        return ()
    return tuple(name for name, value in list(vars(module).items()) if id(value) in originals)


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Watch each C function that is called. For a sample of executions."""
    banned = {id(function): name for name, function in _banned_functions()}

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call" and GUARD.armed:
            name = banned.get(id(argument)) or _bound_name(argument)
            if name is not None:
                _refuse(name, frame)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)


def _banned_functions() -> Iterator[tuple[str, object]]:
    for module, name in _present():
        function = getattr(module, name)
        yield _full_name(module, name), getattr(function, "__wrapped__", function)


def _full_name(holder: ModuleType | type, name: str) -> str:
    prefix = f"{holder.__module__}." if isinstance(holder, type) else ""
    return f"{prefix}{holder.__name__}.{name}"


def _present() -> list[tuple[ModuleType | type, str]]:
    """Return what this version of Python has."""
    return [(module, name) for module, names in _MODULES for name in names if hasattr(module, name)]


def _bound_name(function: object) -> str | None:
    """Return the name of a bound C method of the real world: of ``datetime``, or of the global generator."""
    owner = getattr(function, "__self__", None)
    if owner is None:
        return None
    if owner is _GLOBAL_RANDOM:
        return f"random.{getattr(function, '__name__', '?')}"
    if any(function == foreign for foreign in _FOREIGN_METHODS):
        return f"datetime.{getattr(function, '__name__', '?')}"
    return None


def _replacement(name: str, original: Callable[..., Any], *, needs: int | None) -> Callable[..., Any]:
    def checked(*arguments: Any, **options: Any) -> Any:
        if GUARD.armed and threading.get_ident() == GUARD.thread:
            given = (*arguments[needs - 1 :], *options.values()) if needs is not None else ()
            if all(value is None for value in given):
                machine = GUARD.machine
                if machine is not None and name in ANSWERS:
                    return _answer(machine, name, original, arguments, options)
                _refuse(name, sys._getframe(1))  # noqa: SLF001
        return original(*arguments, **options)

    checked.__wrapped__ = original  # type: ignore[attr-defined]
    return checked


def _answer(
    machine: Machine,
    name: str,
    original: Callable[..., Any],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """Ask the machine, with the guard down: it may use what it replaces."""
    GUARD.armed = False
    try:
        return machine.answer(name, original, arguments, options)
    except PollingError as error:
        message = f"{name} at {calling_line()}: {error}"
        GUARD.complaints.append(("closed-world", message))
        raise ClosedWorldError(message) from None
    finally:
        GUARD.armed = True


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not GUARD.armed or event in _HARMLESS or not event.startswith(_AUDITED):
        return
    if threading.get_ident() == GUARD.thread:
        detail = f"{event} {arguments[0]!r}" if arguments and isinstance(arguments[0], str) else event
        _refuse(detail, sys._getframe(1))  # noqa: SLF001


def calling_line() -> str:
    """Return the nearest line of the program among the callers: file, line and function."""
    return line_of(sys._getframe(1))  # noqa: SLF001


def line_of(frame: FrameType | None) -> str:
    """Return the nearest line of the program at a frame or among its callers."""
    return _line(frame) or "an unknown line"


def _line(frame: FrameType | None) -> str | None:
    """Return the nearest line outside of the standard library; None if imports or logging are at work."""
    while frame is not None:
        name = frame.f_code.co_filename
        if any(part in name for part in _PASS_THROUGH) and "site-packages" not in name:
            return None
        if not name.startswith(_STANDARD) and not name.startswith(_PACKAGE):
            return f"{name.rpartition('/')[2]}:{frame.f_lineno} in {frame.f_code.co_qualname}"
        frame = frame.f_back
    return "an unknown line"


def _refuse(what: str, frame: FrameType | None) -> None:
    """Raise, unless imports or logging are at work."""
    place = _line(frame)
    if place is None:
        return
    message = (
        f"{what} reaches outside of the closed world at {place}: "
        "pass in an object for it (a clock, a network, a storage, a source of randomness)"
    )
    GUARD.complaints.append(("closed-world", message))
    raise ClosedWorldError(message)


_PACKAGE = os.path.dirname(__file__) + os.sep  # noqa: PTH120
_STANDARD = os.path.dirname(os.__file__)  # noqa: PTH120  # compared with file names of code objects, which are strings
