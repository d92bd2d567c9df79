"""All files of ours, or of the user, that a module can load: the transitive closure of ``mentions``.

Libraries (what lies in the environment's own folders) count by version, not by file.

Which other files a Python file can load, by reading it.

Statements count wherever they stand: an import inside a function is executed sooner or later. Only what
is under ``if TYPE_CHECKING`` never is. Modules named as text (``"package.module:Name"``, a module for
``python -m``) count as imported by the file that holds the text, whatever loads them.
"""

import ast
import hashlib
import inspect
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from tidemark.checks.cache import toolchain
from tidemark.checks.cache.memo import Memo
from tidemark.models.rooms import PACKAGE, ROOMS, ROOT

_REFERENCE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?::[A-Za-z_][\w.]*)?")
_OWN = re.compile(rf"(?<![\w.]){PACKAGE}((?:\.[A-Za-z_]\w*)+)(\.?)|(?<![\w.]){PACKAGE}\.(?![A-Za-z_])")

_LOADERS = frozenset({"import_module", "__import__", "find_spec"})
"""Functions that take the name of a module. The name must be followed to where it is written."""

_UNFOLLOWED = frozenset(
    {"pkgutil", "runpy", "zipimport", "spec_from_file_location", "SourceFileLoader", "walk_packages"}
)
"""What loads code by a path or by listing folders: its use makes a file opaque."""


@dataclass(frozen=True, kw_only=True)
class Mentions:
    """The modules that a file may load.

    Attributes:
        imports: dotted names of import statements; for ``from a import b`` both ``a`` and ``a.b``.
        texts: dotted names in text constants, with ``:Name`` where that is said; most are not names of
            modules.
        prefixes: beginnings of names that the file completes while it runs, for example ``tidemark.models.``.
        opaque: the file finds code in a way that cannot be followed by reading.
    """

    imports: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    opaque: bool = False


def mentions(text: str | bytes, *, module: str, is_package: bool) -> Mentions:
    """What the source ``text`` of ``module`` mentions. A file that does not parse is opaque."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return Mentions(opaque=True)
    imports: set[str] = set()
    texts: set[str] = set()
    prefixes: set[str] = set()
    opaque = False
    for node in _executed(tree):
        match node:
            case ast.Import(names=names):
                imports.update(name.name for name in names)
            case ast.ImportFrom():
                imports.update(_from(node, module=module, is_package=is_package))
            case ast.Constant(value=str(value)):
                texts.update(_references(value))
                prefixes.update(_prefixes(value))
            case ast.Call():
                imports.update(_loaded(node))
                opaque |= _loads_composed_name(node)
        opaque |= _unfollowed(node)
    return Mentions(
        imports=frozenset(imports), texts=frozenset(texts), prefixes=frozenset(prefixes), opaque=opaque
    )


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that can mention something, but docstrings and what only a type checker reads."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, _TOLD):
            yield node
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        for name in node._fields:
            value = getattr(node, name, None)
            for child in value if isinstance(value, list) else (value,):
                if not isinstance(child, ast.AST) or isinstance(child, _SILENT):
                    continue
                if child is first and isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                    continue
                if isinstance(child, ast.If) and _is_type_checking(child.test):
                    pending.extend(child.orelse)
                    continue
                pending.append(child)


_TOLD = (ast.Import, ast.ImportFrom, ast.Constant, ast.Call, ast.Attribute)
"""What is looked at."""

_SILENT = (ast.Name, ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
"""What has no such node below it."""


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def _from(node: ast.ImportFrom, *, module: str, is_package: bool) -> Iterator[str]:
    base = node.module or ""
    if node.level:
        parts = module.split(".")
        up = node.level - 1 if is_package else node.level
        kept = parts[: len(parts) - up]
        base = ".".join([*kept, base] if base else kept)
    yield base
    yield from (f"{base}.{name.name}" for name in node.names if name.name != "*")


def _references(value: str) -> Iterator[str]:
    """A text that is a dotted name, with or without ``:Name``; and names of ours inside a longer text."""
    if value != PACKAGE and _REFERENCE.fullmatch(value):
        yield value
        return
    for found in _OWN.finditer(value):
        if found.group(1):
            yield PACKAGE + found.group(1)


def _prefixes(value: str) -> Iterator[str]:
    """``tidemark.models.`` before something that is filled in."""
    for found in _OWN.finditer(value):
        if found.group(1) is None or (found.group(2) and not value[found.end() :].startswith((" ", "\n"))):
            yield f"{PACKAGE}{found.group(1) or ''}."


def _is_loader(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _LOADERS and bool(call.args)


def _loaded(call: ast.Call) -> Iterator[str]:
    """The module of ``import_module("a.b")``."""
    if _is_loader(call) and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str):
        yield call.args[0].value


def _loads_composed_name(call: ast.Call) -> bool:
    """A module is loaded whose name is put together in the call, with a beginning that is not plain text."""
    if not _is_loader(call):
        return False
    match call.args[0]:
        case ast.Constant() | ast.Name() | ast.Attribute() | ast.Subscript():
            return False
        case ast.JoinedStr(values=[ast.Constant(value=str(first)), *_]):
            return "." not in first
        case ast.BinOp(left=ast.Constant(value=str(first))):
            return "." not in first
        case _:
            return True


def _unfollowed(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(name.name in _UNFOLLOWED for name in names)
        case ast.ImportFrom(module=base, names=names):
            return base in _UNFOLLOWED or any(name.name in _UNFOLLOWED for name in names)
        case ast.Attribute(attr=name):
            return name in _UNFOLLOWED
        case _:
            return False


_READER = Path(inspect.getfile(mentions))
"""What a file mentions depends on how it is read."""


@dataclass(frozen=True)
class Closure:
    """What some modules can load.

    Attributes:
        files: module name -> file.
        libraries: names of installed distributions.
    """

    files: dict[str, Path]
    libraries: frozenset[str] = frozenset()


def _nothing(_reference: str) -> bool:
    return False


@dataclass(frozen=True)
class _Node:
    """A module and what it leads to directly."""

    modules: frozenset[str]
    libraries: frozenset[str]


@dataclass
class Sources:
    """The files of the package and of the user, each read once.

    Attributes:
        memo: keeps what each file mentions.
        root: folder of the package's rooms.
    """

    memo: Memo
    root: Path = ROOT

    def __post_init__(self) -> None:
        self._digests: dict[Path, str] = {}
        self._files: dict[str, Path | None] = {}
        self._nodes: dict[tuple[str, frozenset[str]], _Node] = {}
        self._seen: dict[str, Mentions] = {}
        self._places: dict[str, list[Path]] = {}

    def closure(self, modules: Iterable[str], *, without: Callable[[str], bool] = _nothing) -> Closure:
        """Everything that the modules can load, themselves included.

        ``without``: texts ``module:name`` that are not followed. An import always is.
        """
        files: dict[str, Path] = {}
        libraries: set[str] = set()
        pending = [found for name in modules for found in self._modules(name, libraries)]
        while pending:
            name = pending.pop()
            if name in files:
                continue
            path = self.file_of(name)
            assert path is not None
            files[name] = path
            if name not in self._seen:
                self._seen[name] = self._read(name, path)
            seen = self._seen[name]
            left_out: frozenset[str] = frozenset()
            if without is not _nothing:
                left_out = frozenset(one for one in seen.texts if ":" in one and without(one))
            key = (name, left_out)
            if key not in self._nodes:
                self._nodes[key] = self._follow(name, path, seen, left_out)
            node = self._nodes[key]
            libraries |= node.libraries
            pending += node.modules
        return Closure(dict(sorted(files.items())), frozenset(libraries))

    def imports_of(self, files: Iterable[Path]) -> frozenset[str]:
        """The modules that some files import which belong to no module known here, such as tests."""
        found = (mentions(file.read_bytes(), module=file.stem, is_package=False) for file in files)
        return frozenset(name for one in found for name in one.imports)

    def digest_of(self, path: Path) -> str:
        """Hash of a file's content, read once; empty if it cannot be read."""
        if path not in self._digests:
            try:
                content = path.read_bytes()
            except OSError:
                content = None
            self._digests[path] = "" if content is None else hashlib.sha256(content).hexdigest()
        return self._digests[path]

    def file_of(self, module: str) -> Path | None:
        """The Python file of a module of the package or of the user; None for anything else."""
        if module not in self._files:
            self._files[module] = self._find(module)
        return self._files[module]

    def _find(self, module: str) -> Path | None:
        top, *rest = module.split(".")
        if top == PACKAGE:
            return _file([self.root], rest) if rest and rest[0] in ROOMS else None
        return _file(self._places_of(top), rest)

    @cached_property
    def own(self) -> tuple[str, ...]:
        """Names of all modules of the package, for names that are put together at run time."""
        names = []
        for room in ROOMS:
            for path in sorted((self.root / room).rglob("*.py")):
                name = ".".join([PACKAGE, *path.relative_to(self.root).with_suffix("").parts])
                names.append(name.removesuffix(".__init__"))
        return tuple(names)

    def _follow(self, name: str, path: Path, seen: Mentions, left_out: frozenset[str]) -> _Node:
        modules: set[str] = set()
        libraries: set[str] = set()
        for one in seen.imports:
            modules.update(self._modules(one, libraries))
        for one in seen.texts - left_out:
            modules.update(self._named(one.partition(":")[0], libraries))
        for one in seen.prefixes:
            modules.update(other for other in self.own if other.startswith(one))
        if seen.opaque:
            modules.update(self._whole_room(name, path))
        return _Node(frozenset(modules), frozenset(libraries))

    def _read(self, name: str, path: Path) -> Mentions:
        def compute() -> list[object]:
            found = mentions(path.read_bytes(), module=name, is_package=path.name == "__init__.py")
            return [sorted(found.imports), sorted(found.texts), sorted(found.prefixes), found.opaque]

        imports, texts, prefixes, opaque = self.memo.get(
            f"mentions {name}",
            f"{self.digest_of(path)} {self.digest_of(_READER)}",
            compute,
            ours=name.startswith(f"{PACKAGE}."),
        )
        return Mentions(
            imports=frozenset(imports), texts=frozenset(texts), prefixes=frozenset(prefixes), opaque=opaque
        )

    def _modules(self, name: str, libraries: set[str]) -> Iterator[str]:
        """The modules that ``import name`` runs: itself and its packages; or the library it belongs to."""
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names:
            return
        found = list(self._chain(name))
        yield from found
        if top != PACKAGE and not found and not self._places_of(top):
            libraries.update(toolchain.distributions_of(top))

    def _chain(self, name: str) -> Iterator[str]:
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            part = ".".join(parts[:length])
            if self.file_of(part) is not None:
                yield part

    def _named(self, name: str, libraries: set[str]) -> Iterator[str]:
        """A text names a module if there is one of that name. A text of ours may also be a beginning."""
        top = name.partition(".")[0]
        if top == PACKAGE:
            yield from self._modules(name, libraries)
            if self.file_of(name) is None:
                yield from (other for other in self.own if other.startswith(name))
        elif "." in name and top not in sys.stdlib_module_names and self._places_of(top):
            yield from self._chain(name)

    def _whole_room(self, name: str, path: Path) -> Iterator[str]:
        """Where code is found in a way that cannot be followed: everything that might be meant."""
        if name.partition(".")[0] == PACKAGE:
            yield from self.own
            return
        top = name.partition(".")[0]
        for place in self._places_of(top):
            folder = place if place.is_dir() else path.parent
            for other in sorted(folder.rglob("*.py")):
                inner = other.relative_to(folder).with_suffix("").parts
                whole = ".".join([top, *inner] if place.is_dir() else inner).removesuffix(".__init__")
                if self.file_of(whole) is not None:
                    yield whole

    def _places_of(self, top: str) -> list[Path]:
        """Folders (or the one file) of a top-level module of the user; none for a library or no module."""
        if top not in self._places:
            self._places[top] = _user_places(top)
        return self._places[top]


def _user_places(top: str) -> list[Path]:
    try:
        found = find_spec(top)
    except (ImportError, ValueError):
        found = None
    if found is None:
        return []
    places = [Path(place) for place in found.submodule_search_locations or ()]
    if not places and found.origin:
        places = [Path(found.origin)]
    return [] if any(_installed(place) for place in places) else places


def _installed(place: Path) -> bool:
    """It lies in a folder of the environment, where files change only with a version."""
    if {"site-packages", "dist-packages"} & set(place.parts):
        return True
    folders = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    return any(place.resolve().is_relative_to(Path(folder).resolve()) for folder in folders)


def _file(places: Iterable[Path], rest: list[str]) -> Path | None:
    for place in places:
        if place.is_file():
            return place if not rest else None
        base = place.joinpath(*rest)
        for candidate in (base / "__init__.py", base.with_name(f"{base.name}.py") if rest else None):
            if candidate is not None and candidate.is_file():
                return candidate
    return None
