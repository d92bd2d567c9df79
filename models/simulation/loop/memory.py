"""The memory of a process: all objects that its tasks, callbacks and timers can reach, as a digest.

Two executions whose memories and loops are equal have equal futures, however they came there: a task that has
polled, found nothing new and waits again has led back to an earlier state. What the digest holds: objects by
what they contain, in their order, and which of them are the same; coroutines and generators by the place
where they are suspended, with their locals and evaluation stacks; variables of modules and classes of the
program. What it takes for granted: packages that are installed keep no state in their modules that matters;
names and numbers of tasks only tell them apart; nobody asks a traceback, a logger or the garbage collector.

An object of which the contents cannot be seen (a socket, a profiler) makes the memory opaque if a task
reaches it: it is then equal to no other one. As the value of a variable of a module it is left out.
"""

import asyncio
import collections
import contextvars
import functools
import gc
import hashlib
import re
import sys
import sysconfig
import threading
import types
import weakref
from collections.abc import Callable, Hashable, Iterable
from enum import Enum
from typing import Any

from tidemark.models.simulation.loop.freezing import immutable
from tidemark.models.simulation.loop.lane import LANE, Lane, LaneTask

_Parts = tuple[Hashable, Iterable[Any]]
"""What is written down of an object, and the objects that it contains."""

_MOST = 20_000
"""Objects, above which a memory is not looked at: it would take longer than to run on."""
_NUMBERED = re.compile(r"^(?:Task-\d+|main(?:@\d+)?/task\d+)$")
_FOREIGN = re.compile(r"(?:tidemark\.(?:checks|models|spec)|_pytest|pytest|pluggy|logging)(?:\.|$)")
"""Modules whose objects are no part of a program's memory, but for those of ``_OWN``."""
_OWN = "CoroutineProgram"
_INSTALLED = tuple({*map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))})
_ATOMS = (int, float, complex, str, bytes, bool, type(None), range, type(Ellipsis), type(NotImplemented))
_BY_NAME = (types.CodeType, types.FrameType, types.TracebackType, contextvars.ContextVar)
_NO_DATA = (
    types.BuiltinFunctionType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GenericAlias,
    property,
)
_SUSPENDED = {types.CoroutineType: "cr", types.GeneratorType: "gi", types.AsyncGeneratorType: "ag"}
_LOCK = type(threading.Lock())
_HELD = (list, tuple, set, frozenset, collections.deque)
_WRAPPERS = frozenset(
    (
        "FutureIter",
        "TaskStepMethWrapper",
        "coroutine_wrapper",
        "async_generator_asend",
        "async_generator_athrow",
    )
)
"""Types of C that only lead to what they wrap."""
_POINTER = tuple.__itemsize__
"""Bytes of an attribute in a slot."""


class OpaqueError(Exception):
    """The contents of an object cannot be seen. Its text is the name of the type."""


def memory_of(lane: Lane, others: Iterable[object] = (), *, timed: bool) -> bytes:
    """Return the digest of the memory of a process, and of what else is waited for. ``timed``: with
    deadlines. Raises OpaqueError.
    """
    walk = _Walk(timed=timed)
    walk.out += (lane.ending.value, lane.left_behind, lane.clock if timed else 0.0, len(lane.ready))
    for task in lane.tasks:
        if not task.done():
            walk.add(task)
            walk.out.append(bool(lane.shielded) and lane.out_of_reach(task))
        elif task._log_traceback:  # noqa: SLF001  # it will be reported
            walk.out.append(type(task._exception).__name__)  # noqa: SLF001  # asking would count as seeing it
    for handle in (*lane.ready, *others):
        walk.add(handle)
    # Which of the armed timers was armed first decides nothing: any of them may fire.
    for timer in sorted(lane.timers, key=lambda one: walk.numbers.get(id(one), sys.maxsize)):
        walk.add(timer)
    return hashlib.blake2b(repr(walk.out).encode(), digest_size=16).digest()


class _Walk:
    """Writes objects down, each once, in the order in which they are reached."""

    def __init__(self, *, timed: bool, alone: bool = False) -> None:
        self.timed = timed
        self.alone = alone
        """The walk begins at one element of a set, to tell it from the others: sets in it count by length."""
        self.numbers: dict[int, int] = {}
        self.out: list[Hashable] = []
        self._kept: list[Any] = []
        """Objects that were made for the walk: another one must not get the address of one of them."""

    def place_of(self, value: object) -> tuple[int, str]:
        """Return where an object stands among others that have no order."""
        known = self.numbers.get(id(value))
        if known is not None:
            return known, ""
        alone = _Walk(timed=self.timed, alone=True)
        alone.add(value)
        return sys.maxsize, repr(alone.out)

    def add(self, root: object) -> None:
        """Write an object down with all that it reaches."""
        waiting, out, numbers = [root], self.out, self.numbers
        while waiting:
            value = waiting.pop()
            kind = type(value)
            if kind in _EXACT:
                out.append(value if kind is not float else repr(value))
                continue
            known = numbers.get(id(value))
            if known is not None:
                out.append((known,))
                continue
            if len(numbers) >= _MOST:
                raise OpaqueError(f"more than {_MOST} objects")
            numbers[id(value)] = len(numbers)
            self._kept.append(value)
            words, parts = _rule(kind)(value, self)
            inside = list(parts)
            out.append((words, len(inside)))
            waiting += reversed(inside)


_EXACT = frozenset({int, float, str, bytes, bool, type(None)})


def _rule_of(kind: type) -> Callable[[Any, _Walk], _Parts]:
    """Return how objects of a type are taken apart."""
    special = next((rule for base, rule in _RULES if issubclass(kind, base)), None)
    if special is not None:
        return special
    if _FOREIGN.match(kind.__module__) and kind.__name__ != _OWN:
        return _named
    if kind.__name__ in _WRAPPERS and kind.__module__ in ("builtins", "_asyncio"):
        return _wrapper
    return _instance


_rule: Callable[[type], Callable[[Any, _Walk], _Parts]] = functools.lru_cache(maxsize=1 << 12)(_rule_of)


def _named(value: Any, _walk: _Walk) -> _Parts:
    kind = type(value)
    return (f"{kind.__module__}.{kind.__qualname__}", getattr(value, "__qualname__", "")), ()


def _atom(value: Any, _walk: _Walk) -> _Parts:
    base = next((base for base in _ATOMS if isinstance(value, base)), object)
    words = base.__repr__(value) if base is not object else value.name
    return (_type_of(value), words), _attributes(value)


def _suspended(value: Any, _walk: _Walk) -> _Parts:
    frame = getattr(value, f"{_SUSPENDED[type(value)]}_frame")
    if frame is None:
        return (value.__qualname__, "ended"), ()
    code = frame.f_code
    inside = [one for one in gc.get_referents(value) if type(one) not in _BY_NAME]
    return (code.co_qualname, code.co_firstlineno, frame.f_lasti), inside


def _wrapper(value: Any, _walk: _Walk) -> _Parts:
    return type(value).__name__, gc.get_referents(value)


def _future(value: Any, _walk: _Walk) -> _Parts:
    words: tuple[Hashable, ...] = (type(value).__name__, value._state, value._log_traceback)  # noqa: SLF001
    inside = [value._result, value._exception, value._callbacks, value._cancel_message]  # noqa: SLF001
    own = [pair for pair in _own(value) if pair[0] not in ("number", "position")]
    if isinstance(value, asyncio.Task):
        name = value.get_name()
        words += (value._must_cancel, value.cancelling(), "" if _NUMBERED.match(name) else name)  # type: ignore[attr-defined]  # noqa: SLF001
        inside += [value.get_coro(), value._fut_waiter]  # type: ignore[attr-defined]  # noqa: SLF001
        inside += [one for one in gc.get_referents(value) if type(one) is contextvars.Context]
    kind = type(value)
    return words, [*inside, *own, *([] if kind in (LaneTask, asyncio.Future) else [kind])]


def _handle(value: Any, walk: _Walk) -> _Parts:
    when = value.when() if walk.timed and isinstance(value, asyncio.TimerHandle) else 0.0
    words = (type(value).__name__, value.cancelled(), when)
    return words, [value._callback, value._args, value._context]  # noqa: SLF001


def _context(value: contextvars.Context, _walk: _Walk) -> _Parts:
    found = sorted(((var.name, held) for var, held in value.items() if var is not LANE), key=lambda p: p[0])
    return "Context", [part for pair in found for part in pair]


def _timeout(value: asyncio.Timeout, walk: _Walk) -> _Parts:
    own = _own(value)
    return "Timeout", [one for pair in own if walk.timed or pair[0] != "_when" for one in pair]


def _error(value: BaseException, _walk: _Walk) -> _Parts:
    inside = [value.args, value.__cause__, value.__context__, *_attributes(value)]
    return type(value).__qualname__, inside


def _function(value: types.FunctionType, _walk: _Walk) -> _Parts:
    code = value.__code__
    words = (value.__module__, code.co_qualname, code.co_firstlineno)
    inside = [value.__defaults__, value.__kwdefaults__, value.__closure__, vars(value)]
    return words, [*inside, sys.modules.get(value.__module__ or "")]


def _cell(value: types.CellType, _walk: _Walk) -> _Parts:
    try:
        return "cell", [value.cell_contents]
    except ValueError:
        return "empty cell", ()


def _builtin(value: Any, _walk: _Walk) -> _Parts:
    owner = value.__self__
    return value.__qualname__, () if isinstance(owner, types.ModuleType) else [owner]


def _class(value: type, _walk: _Walk) -> _Parts:
    words = (value.__module__, value.__qualname__)
    module = sys.modules.get(value.__module__)
    if module is None or _is_installed(module.__name__):
        return words, ()
    return words, [module, *value.__bases__, *_data(vars(value))]


def _module(value: types.ModuleType, _walk: _Walk) -> _Parts:
    name = value.__name__
    return name, () if _is_installed(name) else _data(vars(value))


@functools.cache
def _is_installed(name: str) -> bool:
    """Tell whether a module belongs to Python, to an installed package or to this one."""
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return not file or bool(_FOREIGN.match(name)) or file.startswith(_INSTALLED)


def _data(variables: Any) -> list[Any]:
    """The variables of a module or a class that may change, each with its name; what only holds code leads to
    the variables of other modules.
    """
    found: list[Any] = []
    for name, value in list(variables.items()):
        kind = type(value)
        if name.startswith("__") or kind in _NO_DATA or kind in _BY_NAME:
            continue
        held = value.__func__ if kind in (staticmethod, classmethod) else value
        if isinstance(held, types.FunctionType) and not _holds_data(held):
            held = sys.modules.get(held.__module__ or "")
        if isinstance(held, types.ModuleType) and _is_installed(held.__name__):
            continue
        if _rule(kind) is _instance and not _can_be_seen(held):
            continue
        if not isinstance(held, type) or not _is_installed(held.__module__):
            found += (name, held)
    return found


def _can_be_seen(value: Any) -> bool:
    try:
        _instance(value, _Walk(timed=False))
    except OpaqueError:
        return False
    return True


def _holds_data(function: types.FunctionType) -> bool:
    defaults = (function.__defaults__ or (), tuple((function.__kwdefaults__ or {}).values()))
    return bool(function.__closure__ or function.__dict__) or not immutable(defaults)


def _mapping(value: Any, _walk: _Walk) -> _Parts:
    pairs = dict.items(value) if isinstance(value, dict) else value.items()
    return _type_of(value), [*(one for pair in list(pairs) for one in pair), *_attributes(value)]


def _held(value: Any, walk: _Walk) -> _Parts:
    base = next(base for base in _HELD if isinstance(value, base))
    inside = list(base.__iter__(value))
    if base in (set, frozenset) and not all(type(one) in _EXACT for one in inside):
        if walk.alone:
            return len(inside), ()
        inside.sort(key=walk.place_of)  # such a set is in the order of addresses
    words = (_type_of(value), value.maxlen if base is collections.deque else None)
    return words, [*inside, *_attributes(value)]


def _type_of(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _instance(value: Any, _walk: _Walk) -> _Parts:
    """An object of a class written in Python by its attributes; another one as it would be copied."""
    kind = type(value)
    slots = _slots(kind)
    pointers = len(slots) + (kind.__weakrefoffset__ > 0) + (kind.__dictoffset__ > 0)
    if not kind.__itemsize__ and kind.__basicsize__ <= object.__basicsize__ + pointers * _POINTER:
        return _type_of(value), [kind, *_attributes(value)]
    try:
        copied = value.__reduce_ex__(4)
    except Exception as error:
        raise OpaqueError(_type_of(value)) from error
    if isinstance(copied, str):
        return (_type_of(value), copied), ()
    found = [list(part) if hasattr(type(part), "__next__") else part for part in copied]
    return _type_of(value), [*found, *(gc.get_referents(value) if hasattr(kind, "__next__") else ())]


def _slots_of(kind: type) -> tuple[str, ...]:
    found = [vars(base) for base in kind.__mro__ if "__slots__" in vars(base)]
    return tuple(
        name for names in found for name, one in names.items() if isinstance(one, types.MemberDescriptorType)
    )


_slots: Callable[[type], tuple[str, ...]] = functools.lru_cache(maxsize=1 << 12)(_slots_of)


def _own(value: Any) -> list[tuple[str, Any]]:
    try:
        own: list[dict[str, Any]] = [object.__getattribute__(value, "__dict__")]
    except AttributeError:  # a future has one, and does not show it
        hidden = gc.get_referents(value) if type(value).__dictoffset__ else []
        own = [held for held in hidden if type(held) is dict]
    return [pair for held in own for pair in held.items()]


def _attributes(value: Any) -> list[Any]:
    """The attributes of an object, each after its name, and its class if it is one of the program."""
    found = [one for pair in _own(value) for one in pair]
    for name in _slots(type(value)):
        try:
            found += (name, object.__getattribute__(value, name))
        except AttributeError:
            continue
    return found


_RULES: tuple[tuple[Any, Callable[[Any, _Walk], _Parts]], ...] = (
    (Enum, _atom),
    (asyncio.Future, _future),
    (asyncio.Handle, _handle),
    (asyncio.Timeout, _timeout),
    (tuple(_SUSPENDED), _suspended),
    (types.FunctionType, _function),
    (types.MethodType, lambda value, _: ("method", [value.__func__, value.__self__])),
    (types.BuiltinFunctionType, _builtin),
    (types.CellType, _cell),
    (type, _class),
    (types.ModuleType, _module),
    (BaseException, _error),
    (contextvars.Context, _context),
    ((asyncio.AbstractEventLoop, *_BY_NAME), _named),
    (_LOCK, lambda value, _: (("lock", value.locked()), ())),
    (weakref.ref, lambda value, _: ("ref", [value()])),
    ((dict, types.MappingProxyType), _mapping),
    (_HELD, _held),
    (_ATOMS, _atom),
)
"""By type the first that fits."""
