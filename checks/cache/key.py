"""What a verdict depends on, as one digest: see docs/cache.md for why nothing is left out.

A verdict is taken over only if every part is the same: the entry and what it refers to, the traced protocols,
the code, the libraries, the seed.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from tidemark.checks.cache import toolchain
from tidemark.checks.cache.closure import Closure, Sources
from tidemark.checks.verdicts.plan import Task, all_tasks
from tidemark.models.manifest import (
    AnyEntry,
    ArgumentEntry,
    ConformEntry,
    GeneratedMutants,
    ImplementationMutants,
    InterleaveEntry,
    Manifest,
    MutantEntry,
    StrengthEntry,
    is_on_spark,
    load,
    manifest_files,
)
from tidemark.models.mutation.source.mutants import folder_of
from tidemark.models.refinement.actions import FILE as TABLE
from tidemark.models.rooms import ROOT
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.spec import Spec

FORMAT = 1
"""Raised when what a key says changes its meaning."""

_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_ROOTS = ("tidemark.checks.gate.pins", "tidemark.checks.verdicts.plan")
"""What makes judgements of a judge's verdicts."""
_ARGUMENT = "tidemark.checks.argument.graph"
_GATE = ROOT / "checks" / "gate"
"""Its files hand the entry to the judge; they count without what they import, which shows and writes."""


@dataclass(frozen=True)
class Key:
    """The digest, its parts by name (to say what has changed), and the files that were read for it."""

    digest: str
    parts: Mapping[str, str]
    files: frozenset[Path] = field(default_factory=frozenset)


def digest(value: Any) -> str:
    """Hash of plain data, independent of the order of keys."""
    text = json.dumps(value, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{value!r} is not plain data")


def text_digest(spec: Spec, *, places: bool = True) -> str:
    """Hash of a traced protocol with all words that a verdict may repeat.

    Not where in a file a guard is, if ``places`` is False, and never the ``source`` texts, which only
    reports show. ``models.digest`` has that of the meaning alone.
    """
    actions = tuple(
        replace(
            action,
            source="",
            guards=tuple(guard if places else replace(guard, place="") for guard in action.guards),
        )
        for action in spec.actions
    )
    properties = tuple(replace(prop, source="") for prop in spec.properties)
    assumptions = tuple(replace(prop, source="") for prop in spec.assumptions)
    bare = replace(spec, actions=actions, properties=properties, assumptions=assumptions)
    return hashlib.sha256(repr(bare).encode()).hexdigest()


class Keys:
    """Makes the keys of a run. Files and protocols are read once.

    Args:
        sources: the files and what they mention.
        judges: module of each judge by name.
        seed: seed of the run.
        options: what else the run was told: the Spark master, workers and memory of a native search.
    """

    def __init__(
        self, sources: Sources, *, judges: Mapping[str, str], seed: int, options: Mapping[str, Any]
    ) -> None:
        self._sources = sources
        self._judges = judges
        self._seed = seed
        self._options = dict(options)
        self.arguments = Arguments()
        self._code = cache(self._code_of)
        self._file = cache(self._code_of_file)
        self._table = cache(_table)
        self._referred = cache(self._reference)
        self._apart = cache(self._code_apart)
        self.of_modules = cache(self._of_modules)
        self._manifests: dict[int, tuple[Manifest, str]] = {}
        self._shared: dict[int, tuple[Manifest, dict[str, Any]]] = {}

    def key(self, task: Task) -> Key:
        """The key of a task. Raises the errors of a protocol that cannot be traced."""
        code, files = self._code(task.judge)
        subject = self._subject(task)
        parts = {
            "format": str(FORMAT),
            "manifest entry": digest(subject),
            "seed": str(self._seed),
            "options of the run": digest({name: self._options.get(name) for name in _options_of(subject)}),
            "code of the judge": code,
            "python": digest(toolchain.python()),
        }
        for reference in sorted(set(_references(subject["entries"]))):
            code, trees, more = self._referred(reference)
            if trees:
                parts[f"protocol {reference}"] = trees[isinstance(task.entry, GeneratedMutants)]
            else:
                parts[f"code of {reference}"] = code
            files |= more
        if isinstance(task.entry, ArgumentEntry):
            parts["argument"] = digest(self._argument(task))
            files |= self.arguments.files
        if isinstance(task.entry, ImplementationMutants):
            for host in self.arguments.hosts(task.manifest, task.entry):
                found = self.key(host)
                parts[f"host {host.name}"] = found.digest
                files |= found.files
            parts["implementation"], more = self._implementation(task.entry)
            files |= more
            parts["tests"], more = self._tests(_whole(task.manifest, task.entry).tests)
            files |= more
        return Key(digest(parts), parts, files)

    def _tests(self, paths: Sequence[str]) -> tuple[str, frozenset[Path]]:
        """The files of some tests and all that they can load: what lies beside them, and above them up to the
        root.
        """
        files = {
            file
            for path in paths
            for file in ((ROOT / path).rglob("*.py") if (ROOT / path).is_dir() else [ROOT / path])
        }
        above = {parent for file in files for parent in file.parents if ROOT in parent.parents}
        files |= {file for folder in above for file in folder.glob("*.py")}
        closure = self._sources.closure(sorted(self._sources.imports_of(files)))
        own = [(str(file), self._sources.digest_of(file)) for file in sorted(files)]
        return digest([own, self.of_closure(closure)]), frozenset(files) | {*closure.files.values()}

    def code(self, judge: str) -> tuple[str, frozenset[Path]]:
        """Hash of the code of a judge, its libraries, Python and the seed, and the files of that code."""
        code, files = self._code(judge)
        return digest([FORMAT, code, self._seed, toolchain.python()]), files

    def apart(self, task: Task) -> Key | None:
        """The key of a task as if no protocol said anything: for a judge that notes what it asks of protocols
        (``tidemark.models.refinement.queries``). None for any other task.

        A protocol is what a text ``module:name`` refers to. Code that imports the file of one counts with it.
        """
        if not _asks(task):
            return None
        if isinstance(task.entry, ImplementationMutants):
            # That of a sample of mutants: its own, those of its hosts, the code that is made wrong. The
            # hosts are run in one process each, whatever they are by themselves.
            own = self._apart_of(task)
            parts, files = dict(own.parts), own.files
            for host in self.arguments.hosts(task.manifest, task.entry):
                if getattr(host.entry, "live", ()):
                    return None  # what endless runs ask is not noted
                found = self._apart_of(host)
                parts[f"host {host.name}"] = found.digest
                files |= found.files
            parts["implementation"], more = self._implementation(task.entry)
            return Key(digest(parts), parts, files | more)
        return self._apart_of(task)

    def _implementation(self, entry: ImplementationMutants) -> tuple[str, frozenset[Path]]:
        folder = sorted(folder_of(entry.package).rglob("*.py"))
        return digest([self._sources.digest_of(path) for path in folder]), frozenset(folder)

    def _apart_of(self, task: Task) -> Key:
        subject = self._subject(task)
        code, files = self._code(task.judge)
        parts = {
            "format": str(FORMAT),
            "manifest entry": digest(subject),
            "seed": str(self._seed),
            "code of the judge": code,
            "python": digest(toolchain.python()),
        }
        for reference in sorted(set(_references(subject["entries"]))):
            if not self._is_protocol(reference):
                parts[f"code of {reference}"], more = self._apart(reference)
                files |= more
        return Key(digest(parts), parts, files)

    def _code_apart(self, reference: str) -> tuple[str, frozenset[Path]]:
        return self._with_tables(
            self._sources.closure([reference.partition(":")[0]], without=self._is_protocol)
        )

    def _code_of_file(self, module: str) -> tuple[str, frozenset[Path]]:
        return self._with_tables(self._sources.closure([module]))

    def _with_tables(self, closure: Closure) -> tuple[str, frozenset[Path]]:
        files = frozenset((*closure.files.values(), *self._tables(closure)))
        return digest([self.of_closure(closure), toolchain.python()]), files

    def _tables(self, closure: Closure) -> list[Path]:
        """Tables of actions of the rooms that the code is from: programs read them."""
        folders = {folder for path in closure.files.values() for folder in path.parents[:2]}
        return sorted(table for folder in folders if (table := self._table(folder)) is not None)

    def _is_protocol(self, reference: str) -> bool:
        module = reference.partition(":")[0]
        return self._sources.file_of(module) is not None and bool(self._referred(reference)[1])

    def of_manifest(self, manifest: Manifest) -> str:
        """Hash of a manifest and of all code that it refers to, and that reads and compares it."""
        if id(manifest) not in self._manifests:
            self._manifests[id(manifest)] = (manifest, self._of_manifest(manifest))
        return self._manifests[id(manifest)][1]

    def _of_modules(self, *modules: str) -> str:
        """Hash of all code that some modules can load."""
        return digest([self.of_closure(self._sources.closure(modules)), toolchain.python()])

    def _subject(self, task: Task) -> dict[str, Any]:
        """The entry, the entries that it names, and what the manifest says once for all."""
        if id(task.manifest) not in self._shared:
            self._shared[id(task.manifest)] = (task.manifest, _common(task.manifest))
        return _subject(task) | {"manifest": self._shared[id(task.manifest)][1]}

    def _of_manifest(self, manifest: Manifest) -> str:
        whole = manifest.model_dump(mode="json")
        modules = {reference.partition(":")[0] for reference in _references(whole)}
        closure = self._sources.closure([*sorted(modules), "tidemark.models.manifest.resolve"])
        return digest([whole, self.of_closure(closure), toolchain.python()])

    def _code_of(self, judge: str) -> tuple[str, frozenset[Path]]:
        closure = self._sources.closure([self._judges[judge], *_ROOTS])
        gate = sorted(_GATE.glob("*.py"))
        found = [self.of_closure(closure), [(path.name, self._sources.digest_of(path)) for path in gate]]
        return digest(found), frozenset(closure.files.values()) | frozenset(gate)

    def of_closure(self, closure: Closure) -> dict[str, Any]:
        """Content of the files, versions of the libraries."""
        return {
            "files": {name: self._sources.digest_of(path) for name, path in closure.files.items()},
            "tables": {str(path): self._sources.digest_of(path) for path in self._tables(closure)},
            "libraries": {name: toolchain.version_of(name) for name in sorted(closure.libraries)},
        }

    def _reference(self, reference: str) -> tuple[str, list[str], frozenset[Path]]:
        """A protocol counts by its traced tree (generated mutants say where the guard is that they
        change), anything else, programs and adapters, by all files that it can load.
        """
        code, files = self._file(reference.partition(":")[0])
        trees = self._sources.memo.get(f"protocol {reference}", code, lambda: _trees(reference))
        return code, trees, files

    def _argument(self, task: Task) -> list[Any]:
        """The reliances themselves, and the keys of the proofs that they rest on. They are a function of all
        manifests, and of the code that these refer to and that reads them.
        """
        others = self.arguments.others(task.manifest)
        of = digest(
            [*(self.of_manifest(one) for one in (*others, task.manifest)), self.of_modules(_ARGUMENT)]
        )
        reliances, names = self._sources.memo.get(
            f"argument {task.manifest.name}", of, lambda: self.arguments.of(task.manifest)
        )
        supports = [one for one in all_tasks([*others, task.manifest]) if one.name in names]
        return [reliances, [[one.name, self.key(one).digest] for one in supports]]


def _table(folder: Path) -> Path | None:
    table = folder / TABLE
    return table if table.is_file() else None


def _asks(task: Task) -> bool:
    """Whether its judge notes what it asks of a protocol, in one process."""
    entry: AnyEntry | None = task.entry
    if isinstance(entry, ImplementationMutants):
        quiet = _whole(task.manifest, entry).tests  # tests note nothing
        return entry.sample is not None and not entry.distributed and not quiet
    if isinstance(entry, MutantEntry):
        host = entry.instance
        entry = next((one for one in task.manifest.entries() if one.name == host), None)
    if isinstance(entry, InterleaveEntry):
        return not entry.on_spark
    return isinstance(entry, ConformEntry)


def _options_of(subject: Mapping[str, Any]) -> tuple[str, ...]:
    """The options that the judge of a task makes use of."""
    if subject["spark"]:
        return ("master",)
    return ("workers", "memory") if subject["judge"] == "explore" else ()


class Arguments:
    """The arguments of the manifests of the repository, read when an ``[argument.NAME]`` is looked up."""

    def __init__(self) -> None:
        self.files = frozenset(manifest_files())
        self.known: dict[Path, Manifest] = {}
        """Manifests that were read already."""

    @cached_property
    def _repository(self) -> list[Manifest]:
        return [self.known[path] if path in self.known else load(path) for path in sorted(self.files)]

    def others(self, manifest: Manifest) -> list[Manifest]:
        """The repository's manifests but this one."""
        return [one for one in self._repository if one.name != manifest.name]

    def hosts(self, manifest: Manifest, entry: ImplementationMutants) -> list[Task]:
        """The tasks that try the mutants of an entry, of whichever manifest."""
        others = self.others(manifest)
        hosts = _whole(manifest, entry).hosts
        return [task for task in all_tasks([*others, manifest]) if task.entry.name in hosts]

    def of(self, manifest: Manifest) -> tuple[list[str], list[str]]:
        """What the manifest's protocol assumes, as text, and the names of the tasks of the proofs."""
        from tidemark.checks.argument.graph import Argument

        others = self.others(manifest)
        argument = Argument([*others, manifest])
        reliances = argument.reliances(manifest.name)
        named = {one.support for one in reliances if one.support}
        owners = {owner for one in reliances if (owner := argument.owner(one.claim)) is not None}
        supports = [
            one
            for one in all_tasks(argument.manifests[name] for name in sorted({*owners, manifest.name}))
            if one.entry.name in named
        ]
        return [repr(one) for one in reliances], [one.name for one in supports]


def _trees(reference: str) -> list[str]:
    """Digests of a protocol's tree without and with places; empty if the reference is no protocol."""
    try:
        spec = resolve(reference).trace()
    except SpecError:
        return []
    return [text_digest(spec, places=False), text_digest(spec)]


def _whole(manifest: Manifest, entry: ImplementationMutants) -> ImplementationMutants:
    """The entry that has the files, hosts and tests of a sample."""
    return next((one for one in manifest.implementation if one.name == entry.of), entry)


def _subject(task: Task) -> dict[str, Any]:
    """The judge, the entry, and the entries that it names or that are tried for it."""
    entries = {entry.name: entry for entry in task.manifest.entries()}
    read: list[AnyEntry] = [task.entry]
    if isinstance(task.entry, StrengthEntry) or getattr(task.entry, "torn", None) is not None:
        tried = {one.name: one for one in task.manifest.instance}
        wrong = [one for one in task.manifest.mutant if one.instance in tried]
        read += [*tried.values(), *wrong]
    name = getattr(task.entry, "instance", None) or getattr(task.entry, "of", None)
    while name in entries:
        read.append(entries.pop(name))
        name = getattr(read[-1], "instance", None)
    return {
        "judge": task.judge,
        "entries": [one.model_dump(mode="json") for one in read],
        "spark": task.judge == "distribute" or any(is_on_spark(one) for one in read),
    }


def _common(manifest: Manifest) -> dict[str, Any]:
    """Everything of a manifest but its lists of entries."""
    lists = {name for name in type(manifest).model_fields if isinstance(getattr(manifest, name), tuple)}
    return manifest.model_dump(mode="json", exclude=lists)


def _references(value: Any) -> Iterator[str]:
    """The texts ``module:name`` in plain data, wherever they stand."""
    if isinstance(value, str):
        if _REFERENCE.fullmatch(value):
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, Iterable):
        for item in value:
            yield from _references(item)
