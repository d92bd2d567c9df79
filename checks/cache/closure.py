"""All files of ours, or of the user, that a module can load: the transitive closure of ``mentions``.

Libraries (what lies in the environment's own folders) count by version, not by file.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from tidemark.checks.cache import toolchain
from tidemark.checks.cache.memo import Memo
from tidemark.checks.cache.mentions import Mentions, mentions
from tidemark.models.rooms import PACKAGE, ROOMS, ROOT

_READER = Path(inspect.getfile(mentions))
"""What a file mentions depends on how it is read."""


@dataclass(frozen=True)
class Closure:
    """What some modules can load.

    Attributes:
        files: module name -> file.
        absent: mentioned modules that do not exist: if one appears, it is loaded.
        libraries: names of installed distributions.
    """

    files: dict[str, Path]
    absent: frozenset[str] = frozenset()
    libraries: frozenset[str] = frozenset()


def _nothing(_reference: str) -> bool:
    return False


@dataclass(frozen=True)
class _Node:
    """A module and what it leads to directly."""

    modules: frozenset[str]
    absent: frozenset[str]
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

        Args:
            modules: their names.
            without: texts ``module:name`` that are not followed. An import always is.
        """
        files: dict[str, Path] = {}
        absent: set[str] = set()
        libraries: set[str] = set()
        pending = [found for name in modules for found in self._modules(name, absent, libraries)]
        while pending:
            name = pending.pop()
            if name in files:
                continue
            path = self.file_of(name)
            assert path is not None
            files[name] = path
            node = self._node(name, path, without)
            absent |= node.absent
            libraries |= node.libraries
            pending += node.modules
        return Closure(dict(sorted(files.items())), frozenset(absent), frozenset(libraries))

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

    def _node(self, name: str, path: Path, without: Callable[[str], bool]) -> _Node:
        seen = self._mentions(name, path)
        left_out: frozenset[str] = frozenset()
        if without is not _nothing:
            left_out = frozenset(one for one in seen.texts if ":" in one and without(one))
        key = (name, left_out)
        if key not in self._nodes:
            self._nodes[key] = self._follow(name, path, seen, left_out)
        return self._nodes[key]

    def _follow(self, name: str, path: Path, seen: Mentions, left_out: frozenset[str]) -> _Node:
        modules: set[str] = set()
        absent: set[str] = set()
        libraries: set[str] = set()
        for one in seen.imports:
            modules.update(self._modules(one, absent, libraries))
        for one in seen.texts - left_out:
            modules.update(self._named(one.partition(":")[0], absent, libraries))
        for one in seen.prefixes:
            modules.update(other for other in self.own if other.startswith(one))
        if seen.opaque:
            modules.update(self._whole_room(name, path))
        return _Node(frozenset(modules), frozenset(absent), frozenset(libraries))

    def _mentions(self, name: str, path: Path) -> Mentions:
        if name not in self._seen:
            self._seen[name] = self._read(name, path)
        return self._seen[name]

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

    def _modules(self, name: str, absent: set[str], libraries: set[str]) -> Iterator[str]:
        """The modules that ``import name`` runs: itself and its packages; or the library it belongs to."""
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names:
            return
        found = list(self._chain(name))
        yield from found
        if top != PACKAGE and not found and not self._places_of(top):
            distributions = toolchain.distributions_of(top)
            libraries.update(distributions)
            if not distributions:
                absent.add(top)
        elif not found:
            absent.add(name)

    def _chain(self, name: str) -> Iterator[str]:
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            part = ".".join(parts[:length])
            if self.file_of(part) is not None:
                yield part

    def _named(self, name: str, absent: set[str], libraries: set[str]) -> Iterator[str]:
        """A text names a module if there is one of that name. A text of ours may also be a beginning."""
        top = name.partition(".")[0]
        if top == PACKAGE:
            yield from self._modules(name, absent, libraries)
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
