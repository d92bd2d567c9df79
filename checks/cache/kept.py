"""The gate's side of the cache: what is taken over before a run, what is kept after a judge, what is said."""

import json
import random
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tidemark import checks
from tidemark.checks.cache import toolchain
from tidemark.checks.cache.closure import Sources
from tidemark.checks.cache.key import Key, Keys, digest
from tidemark.checks.cache.memo import BESIDE, Memo
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.result import TaskResult
from tidemark.checks.verdicts.reuse import Reuse, changed_since
from tidemark.checks.verdicts.sealed import DamagedError, ForeignError, read_sealed, write_sealed
from tidemark.checks.verdicts.verdict import Aspect, Judgement, Subject, holds, judge, refuted
from tidemark.checks.verdicts.verdict import Outcome as Result
from tidemark.models.manifest import Manifest, check_against_spec
from tidemark.models.rooms import ROOT

FORMAT = 1
FOLDER = "cache"
GENERATIONS = 4
"""Records kept of one task: going back to an earlier state of the sources finds its verdicts again."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is kept of one task.

    Attributes:
        task: ``judge/entry``.
        key: digest of all that the verdicts depend on.
        made_with: digest of the Python and the machine that judged.
        date: when it was judged, ISO 8601 in UTC.
        seconds: wall time of judging.
        parts: the parts of the key by name.
        judgements: the verdicts with their expectations.
    """

    task: str
    key: str
    made_with: str
    date: str
    seconds: float
    parts: dict[str, str]
    judgements: tuple[Judgement, ...]


class Store:
    """The folder of records."""

    def __init__(self, folder: Path, *, made_with: str) -> None:
        self.folder = folder
        self._made_with = made_with

    def read(self, task: str, key: str) -> Record | None:
        """The record of a task under a key; None if there is none.

        Raises DamagedError: there is one, but it cannot be read, or it is not whole; ForeignError: it is
        whole, but of another format, machine or task.
        """
        path = self.path(task, key)
        record = _load(path)
        if record is None:
            return None
        if (record.task, record.key, record.made_with) != (task, key, self._made_with):
            raise ForeignError(f"{path.name}: of another task, key or machine")
        return record

    def write(self, record: Record) -> None:
        """Keep a record, and of its task only the newest. Raises OSError."""
        plain = {**vars(record), "judgements": [one.model_dump(mode="json") for one in record.judgements]}
        body = json.dumps(plain)  # arguments of a step stay in their order
        write_sealed(self.path(record.task, record.key), body, version=FORMAT)
        for old in self._of(record.task)[GENERATIONS:]:
            with suppress(OSError):
                old.unlink()

    def latest(self, task: str) -> Record | None:
        """The record that was written last for a task, whatever its key."""
        for path in self._of(task):
            with suppress(DamagedError, ForeignError):
                return _load(path)
        return None

    def path(self, task: str, key: str) -> Path:
        """Where the record of a task under a key is."""
        return self.folder / f"{_file_name(task)}.{key[:20]}.json"

    def _of(self, task: str) -> list[Path]:
        """The records of a task, newest first."""
        found = []
        for path in self.folder.glob(f"{_file_name(task)}.{'[0-9a-f]' * 20}.json"):
            with suppress(OSError):
                found.append((path.stat().st_mtime_ns, path))
        return [path for _, path in sorted(found, reverse=True)]


def _load(path: Path) -> Record | None:
    body = read_sealed(path, version=FORMAT)
    if body is None:
        return None
    try:
        plain = json.loads(body)
        found = tuple(Judgement.model_validate(one) for one in plain.pop("judgements"))
        return Record(judgements=found, **plain)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(f"{path.name}: {error}") from error


def survives(found: tuple[Judgement, ...]) -> bool:
    """Reading back what would be written, and writing it again, gives the same text: nothing is lost there.

    A tuple may come back as a list, where the model says no more than "any value".
    """
    texts = [one.model_dump_json() for one in found]
    try:
        again = [Judgement.model_validate_json(text) for text in texts]
    except ValueError:
        return False
    return texts == [one.model_dump_json() for one in again]


def _file_name(task: str) -> str:
    return re.sub(r"[^A-Za-z0-9_+-]+", "-", task)


PARTS = "parts"
"""Folder of what judges keep below their verdicts."""

AUDIT = "taken-over"
"""Claim id of the verdict that compares a kept verdict with a new one."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """How a run uses the cache.

    Attributes:
        read: take over what has not changed; otherwise judge everything (and keep it).
        audit: so many of the verdicts that could be taken over are judged again and compared.
    """

    read: bool = True
    audit: int = 0


JUDGE_CHANGED = Use()


class Nothing:
    """No cache: everything is judged, nothing is kept."""

    remarks: Sequence[str] = ()

    def take_over(self, tasks: Sequence[Task]) -> dict[str, TaskResult]:  # noqa: ARG002
        """See ``Kept``."""
        return {}

    def keep(self, task: Task, result: TaskResult) -> TaskResult:  # noqa: ARG002
        """See ``Kept``."""
        return result

    def reuse(self, judge: str) -> Reuse | None:  # noqa: ARG002
        """See ``Kept``."""
        return None

    def asked(self, task: Task) -> Reuse | None:  # noqa: ARG002
        """See ``Kept``."""
        return None

    def said(self, protocol: str, compute: Callable[[], Any]) -> Any:  # noqa: ARG002
        """See ``Kept``."""
        return compute()

    def close(self) -> None:
        """See ``Kept``."""


@dataclass
class _Unusable:
    """Records that were found and cannot be used."""

    damaged: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


class Kept:
    """The kept verdicts of a build folder.

    Args:
        build: the build folder; verdicts lie in ``cache`` below it.
        judges: module of each judge by name; a judge without one is never taken over.
        seed: seed of the run.
        options: options of the run by judge, beyond the seed.
        use: what the user asked for.
        begun: when this process began to load code (seconds since 1970): what was judged after that may be
            an older text of a file that was changed since.
    """

    def __init__(
        self,
        *,
        build: Path,
        judges: Mapping[str, str],
        seed: int,
        options: Mapping[str, Any],
        use: Use = JUDGE_CHANGED,
        begun: float | None = None,
    ) -> None:
        self.use = use
        self._begun = checks.BEGUN if begun is None else begun
        self.folder = build / FOLDER
        self._usable = next(
            place.is_dir() for place in (self.folder, *self.folder.absolute().parents) if place.exists()
        )
        memo = Memo(self.folder if self._usable else None, beside=BESIDE)
        made_with = digest(toolchain.python())
        self.sources = Sources(memo)
        self._memo = memo
        self._run = uuid.uuid4().hex
        self._made_with = made_with
        self._store = Store(self.folder, made_with=made_with)
        self._keys = Keys(self.sources, judges=judges, seed=seed, options=options)
        self._judges = judges
        self._known: dict[str, Key] = {}
        self._audited: dict[str, Record] = {}
        self._unusable = _Unusable()
        self._changed: set[str] = set()
        self._lossy: list[str] = []
        self._keyless: dict[str, str] = {}
        self._unwritten = "" if self._usable else "a part of this path is not a folder"

    def take_over(self, tasks: Sequence[Task]) -> dict[str, TaskResult]:
        """The results of the tasks of which nothing has changed, by task name."""
        records: dict[str, Record] = {}
        for task in tasks:
            key = self.key(task)
            record = self._read(task, key) if key is not None and self.use.read else None
            if record is not None:
                records[task.name] = record
        for name in random.SystemRandom().sample(sorted(records), min(self.use.audit, len(records))):
            self._audited[name] = records.pop(name)
        self._memo.save()
        return {name: TaskResult(task=name, judgements=_dated(record)) for name, record in records.items()}

    def keep(self, task: Task, result: TaskResult) -> TaskResult:
        """Keep what a judge has just said, unless it must not be kept. Returns it, with that of an audit.

        Only decided verdicts that are all as expected are kept: what is red is judged again, and so is what
        was judged while the files it depends on were changed.
        """
        judged = result.judgements
        key = self._known.get(task.name)
        audit = self._compare(task, judged)
        kept = bool(judged) and not result.unpinned and all(one.ok for one in judged)
        if key is not None and not self._unwritten and kept:
            if changed_since(key.files, self._begun):
                self._changed.add(task.name)
            elif survives(judged):
                self._write(self._record(result, key))
            else:
                self._lossy.append(task.name)
        return result.model_copy(update={"judgements": (*judged, *audit)}) if audit else result

    def _record(self, result: TaskResult, key: Key) -> Record:
        return Record(
            task=result.task,
            key=key.digest,
            made_with=self._made_with,
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=result.seconds,
            parts=dict(key.parts),
            judgements=result.judgements,
        )

    def key(self, task: Task) -> Key | None:
        """The key of a task; None if it has none: its judge is not known, or its protocol is broken."""
        if task.name not in self._known and task.judge in self._judges:
            try:
                self._known[task.name] = self._keys.key(task)
            except Exception as error:  # noqa: BLE001  whatever is wrong, the judge says it too
                self._keyless[task.name] = f"{type(error).__name__}: {error}"
                return None
        return self._known.get(task.name)

    def check_once(self, manifest: Manifest) -> None:
        """Compare a manifest with its specification, unless these very texts were found to agree.

        Raises what ``check_against_spec`` raises.
        """

        def check() -> bool:
            check_against_spec(manifest, file=manifest.path.name if manifest.path else manifest.name)
            return True

        of = self._keys.of_manifest(manifest)
        if self.use.read:
            self._memo.get(f"checked {manifest.name}", of, check)
        else:
            check()

    def said(self, protocol: str, compute: Callable[[], Any]) -> Any:
        """What the properties of a protocol say in words: plain data, computed from its code alone."""
        if not self.use.read:
            return compute()
        code = self._keys.of_modules(protocol.partition(":")[0], "tidemark.checks.gate.texts")
        return self._memo.get(f"said {protocol}", digest([code, str(ROOT)]), compute)

    def know(self, manifests: Iterable[Manifest]) -> None:
        """Manifests that were read already: those of the suite among them need not be read again."""
        self._keys.arguments.known.update({one.path: one for one in manifests if one.path is not None})

    def code_in(self, folders: Iterable[str]) -> str:
        """Hash of the code in some folders of the package; empty if it was changed since it was loaded."""
        files = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
        if changed_since(files, self._begun):
            return ""
        return digest([*((str(file), self.sources.digest_of(file)) for file in files), toolchain.python()])

    def reuse(self, judge: str) -> Reuse | None:
        """What a judge may take over below its verdicts; None if its code is unknown or nothing is kept."""
        if judge not in self._judges or not self._usable:
            return None
        return self._parts(*self._keys.code(judge))

    def asked(self, task: Task) -> Reuse | None:
        """What the judge of a task may take over if the protocol replies to it as before; None if it does not
        note what it asks.
        """
        if self.key(task) is None or not self._usable:
            return None
        key = self._keys.apart(task)
        return None if key is None else self._parts(key.digest, key.files)

    def _parts(self, code: str, files: frozenset[Path]) -> Reuse:
        return Reuse(
            folder=self.folder / PARTS,
            code=code,
            files=files,
            begun=self._begun,
            read=self.use.read,
            run=self._run,
        )

    def last_seconds(self, task: Task) -> float | None:
        """How long it took to judge the task last, whatever has changed since; None if it never was."""
        record = self._store.latest(task.name)
        return None if record is None else record.seconds

    def close(self) -> None:
        """Write what was computed on the way."""
        self._memo.save()

    @property
    def remarks(self) -> list[str]:
        """What the user has to know about the cache, each thing once."""
        said = []
        where = self.folder.as_posix()
        if self._memo.problem:
            said.append(f"{where}: computed again: {self._memo.problem}")
        for what, found in (("damaged", self._unusable.damaged), ("foreign", self._unusable.foreign)):
            names = list(dict.fromkeys(found))
            if names:
                kept = f"{len(names)} kept verdict{'s' * (len(names) > 1)} {what}"
                said.append(f"{where}: {kept}, judged again: {names[0]}")
        if self._unwritten:
            said.append(
                f"{where} cannot be written ({self._unwritten}): verdicts are not kept; "
                "make it a folder that you may write, or give another one with --build"
            )
        for name, why in list(self._keyless.items())[:1]:
            number = len(self._keyless)
            said.append(f"what {number} of the checks depend on is not known, first {name}: {why}")
        if self._lossy:
            said.append(
                f"{len(self._lossy)} verdicts are not kept, because text loses them: {self._lossy[0]}"
            )
        if self._changed:
            said.append(
                f"{len(self._changed)} verdicts are not kept, because files that they depend on were changed "
                "during the run"
            )
        return said

    def _read(self, task: Task, key: Key) -> Record | None:
        if not self._usable:
            return None
        try:
            return self._store.read(task.name, key.digest)
        except DamagedError as error:
            self._unusable.damaged.append(str(error))
        except ForeignError as error:
            self._unusable.foreign.append(str(error))
        return None

    def _write(self, record: Record) -> None:
        try:
            self._store.write(record)
        except OSError as error:
            self._unwritten = error.strerror or str(error)

    def _compare(self, task: Task, found: Sequence[Judgement]) -> list[Judgement]:
        record = self._audited.pop(task.name, None)
        if record is None:
            return []
        subject = Subject(
            protocol=task.manifest.name,
            property_id=AUDIT,
            judge=task.judge,
            instance=task.entry.name,
            aspect=Aspect.PIN,
        )
        replay = check_command(task.judge, task.entry.name)
        problems = _differences(record.judgements, found)
        if not problems:
            verdict = holds(
                subject, counts={"pins": 1}, bounds=f"the verdict kept on {record.date[:10]}", replay=replay
            )
        else:
            verdict = refuted(
                subject,
                counts={"pins": 1},
                reason=f"what was kept on {record.date[:10]} is not what is judged now: {problems[0]}",
                replay=replay,
            )
        return [judge(verdict, expected=Result.HOLDS)]


def _dated(record: Record) -> tuple[Judgement, ...]:
    return tuple(one.model_copy(update={"taken_over": record.date}) for one in record.judgements)


def _differences(before: Iterable[Judgement], now: Iterable[Judgement]) -> list[str]:
    """What two judgings of one task say differently, times and traces apart."""
    old, new = (
        {
            one.verdict.subject.text(): (one.verdict.outcome.value, one.verdict.counts, one.verdict.bounds)
            for one in found
        }
        for found in (before, now)
    )
    return [
        f"{name}: {old.get(name, 'nothing')}, now {new.get(name, 'nothing')}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
