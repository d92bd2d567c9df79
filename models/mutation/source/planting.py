"""Puts a changed function in place of the real one in the loaded module. No file is written.

Only the code of the function object is exchanged, so that whoever has imported the function or its class
before runs the changed one, too.
"""

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from tidemark.models.mutation.source.edits import Function
from tidemark.models.mutation.source.mutants import SourceMutant, functions, parsed

_PROBE = "tidemark_reached_"
"""Global name of the probe in an instrumented module."""


class PlantingError(Exception):
    """The changed function cannot be put in: a fault of the operators, never a verdict about the mutant."""


@contextmanager
def planted(mutant: SourceMutant, *, root: Path, package: str) -> Iterator[None]:
    """Run the mutant's function in place of the real one. ``package`` is the name of the root. Raises
    PlantingError.
    """
    name = module_name(package, mutant.file)  # of what the hosts load: a key of a verdict has it through them
    function = function_of(import_module(name), mutant.function)
    tree = parsed(root, mutant.file)
    _exchange(tree, mutant.function, mutant.changed)
    new = compiled(tree, function.__code__, mutant.function)
    if same(new, function.__code__):
        raise PlantingError(f"{mutant.id} compiles to the code that is there")
    with exchanged(function, new):
        yield


@contextmanager
def exchanged(function: FunctionType, code: CodeType) -> Iterator[None]:
    """Give a function other code for a while."""
    before = function.__code__
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = before


@contextmanager
def probed(file: str, reached: Callable[[int], None], *, root: Path, package: str) -> Iterator[None]:
    """Tell the first line of each statement of a file's functions that is run."""
    name = module_name(package, file)
    module = import_module(name)
    tree = parsed(root, file)
    names = [name for name, _ in functions(tree)]
    kept = {name: function_of(module, name) for name in names}
    for _, node in functions(tree):
        _Probing().visit(node)
    ast.fix_missing_locations(tree)
    before = {name: function.__code__ for name, function in kept.items()}
    setattr(module, _PROBE, reached)
    try:
        for name, function in kept.items():
            function.__code__ = compiled(tree, before[name], name)
        yield
    finally:
        for name, function in kept.items():
            function.__code__ = before[name]
        delattr(module, _PROBE)


def module_name(package: str, file: str) -> str:
    """The dotted name of a file below the root."""
    return ".".join([package, *Path(file).with_suffix("").parts]).removesuffix(".__init__")


def function_of(module: ModuleType, name: str) -> FunctionType:
    """The function object behind a qualified name, under its decorators. Raises PlantingError."""
    found: object = module
    for part in name.split("."):
        try:
            found = vars(found)[part]
        except (KeyError, TypeError) as error:
            raise PlantingError(f"{module.__name__} has no {name!r}") from error
    while not isinstance(found, FunctionType) or hasattr(found, "__wrapped__"):
        inner = _under(found)
        if inner is None:
            raise PlantingError(f"{module.__name__}.{name} is {found!r}, not a function")
        found = inner
    return found


def _under(found: object) -> object:
    if isinstance(found, property):
        return found.fget
    if isinstance(found, cached_property):
        return found.func
    return getattr(found, "__wrapped__", None) or getattr(found, "__func__", None)


def compiled(tree: ast.Module, old: CodeType, name: str) -> CodeType:
    """The code of a function of the tree, with the file and closed-over names of the old one. Raises
    PlantingError.
    """
    for found, function in functions(tree):
        if found == name:
            _keep_free_names(function, old.co_freevars)
    whole = compile(tree, old.co_filename, "exec", dont_inherit=True)
    code = next((one for one in _codes(whole) if one.co_qualname == name), None)
    if code is None or set(code.co_freevars) != set(old.co_freevars):
        raise PlantingError(f"{name} of {old.co_filename} cannot be compiled alone")
    return code


def _keep_free_names(function: Function, names: tuple[str, ...]) -> None:
    """A change may leave out the only use of ``super()``: the function object still has room for it."""
    if names:
        uses = ", ".join(names)
        kept = ast.parse(f"if 0: ({uses},)").body[0]
        function.body.insert(0, ast.copy_location(kept, function.body[0]))
        ast.fix_missing_locations(function)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def same(one: CodeType, two: CodeType) -> bool:
    """Do they do the same, to the letter?"""
    return (one.co_code, one.co_consts, one.co_names) == (two.co_code, two.co_consts, two.co_names)


def _exchange(tree: ast.Module, name: str, changed: Function) -> None:
    for found, function in functions(tree):
        if found == name:
            function.body = changed.body
            return
    raise PlantingError(f"there is no function {name!r}")


class _Probing(ast.NodeTransformer):
    """Puts a call of the probe in front of each statement."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """See ``ast.NodeTransformer``."""
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, field, list(self._with_probes(block)))
        for handler in getattr(node, "handlers", ()):
            self.visit(handler)
        for case in getattr(node, "cases", ()):
            self.visit(case)
        return node

    def _with_probes(self, block: list[ast.stmt]) -> Iterator[ast.stmt]:
        for statement in block:
            call = ast.Call(ast.Name(_PROBE, ast.Load()), [ast.Constant(statement.lineno)], [])
            yield ast.copy_location(ast.Expr(call), statement)
            yield self.visit(statement)
