"""The gate: run what the manifest asks for, compare with what it expects, lose nothing.

After each task everything that is known is written to ``build/verdicts.partial.json``, so that a run that is
stopped or killed keeps its results. The gate knows no judge by itself; it is given a registry.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tidemark.checks.gate.fingerprint import fingerprint
from tidemark.checks.gate.pins import judgements
from tidemark.checks.gate.plan import Task
from tidemark.checks.report.files import write_partial
from tidemark.checks.verdicts.commands import Invocation
from tidemark.checks.verdicts.errors import CheckError, MissingToolError, StoppedError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.judge import Context, Judge, Registry
from tidemark.checks.verdicts.progress import Quiet, Reporter
from tidemark.checks.verdicts.result import RunResult, SourceNote, Unjudged, source_note
from tidemark.checks.verdicts.verdict import Judgement
from tidemark.models.instance import BadInstance
from tidemark.models.manifest import ManifestError, MutantEntry
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.protocol import resolve

_BAD_INPUT = (ManifestError, BadInstance, SpecError)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the user chose for a run."""

    tier: str = "fast"
    seed: int = 0
    master: str = "local[*]"
    build: Path = Path("build")
    workers: int | None = None
    memory: int | None = None
    words: tuple[str, ...] = ()
    """The command line as it was given, without the program."""
    manifests: tuple[Path, ...] = ()
    """Manifest files as they were given; none for those of the repository."""

    @property
    def invocation(self) -> Invocation:
        """What a printed command has to repeat of this run."""
        return Invocation(
            words=self.words, manifests=self.manifests, build=self.build, seed=self.seed, master=self.master
        )


def run(
    tasks: Sequence[Task],
    *,
    registry: Registry,
    settings: Settings,
    reporter: Reporter | None = None,
    earlier: RunResult | None = None,
) -> RunResult:
    """Run the tasks one after the other.

    A task that cannot be judged does not keep the others from running. On KeyboardInterrupt (or StoppedError
    of a judge) the run ends with ``stopped``; what was found so far is in the result and on disk. Tasks that
    ``earlier`` (a stopped run of the same sources) has judged are taken from there.
    """
    show = reporter or Quiet()
    state = _Run(settings=settings, planned=len(tasks), texts=_texts(tasks))
    mark = fingerprint(seed=settings.seed)

    def save(result: RunResult) -> None:
        write_partial(result, build=settings.build, fingerprint=mark)

    show.begin(tasks)
    try:
        for task in tasks:
            if not state.take_over(task, earlier, show):
                state.do(task, registry, show)
            save(state.result())
    except (KeyboardInterrupt, StoppedError):
        state.stopped = True
        save(state.result())
    finally:
        show.end()
    return state.result()


class _Run:
    """What has been found so far."""

    def __init__(self, *, settings: Settings, planned: int, texts: _Texts) -> None:
        self.settings = settings
        self.planned = planned
        self.texts = texts
        self.found: list[Judgement] = []
        self.failed: list[Unjudged] = []
        self.done = 0
        self.task_seconds: dict[str, float] = {}
        self.stopped = False
        self.begun = time.perf_counter()

    def result(self) -> RunResult:
        return RunResult(
            tier=self.settings.tier,
            seed=self.settings.seed,
            judgements=tuple(self.found),
            unjudged=tuple(self.failed),
            planned=self.planned,
            done=self.done,
            stopped=self.stopped,
            descriptions=self.texts.descriptions,
            sources=self.texts.sources,
            seconds=time.perf_counter() - self.begun,
            task_seconds=dict(self.task_seconds),
        )

    def take_over(self, task: Task, earlier: RunResult | None, show: Reporter) -> bool:
        """Use the judgements of an earlier run; False if it has none for this task."""
        if earlier is None or task.name not in earlier.task_seconds:
            return False
        found = [j for j in earlier.judgements if _task_name(j) == task.name]
        if not found:
            return False
        seconds = earlier.task_seconds[task.name]
        show.started(task)
        show.judged(task, found, seconds=seconds)
        self.found += found
        self.task_seconds[task.name] = seconds
        self.done += 1
        return True

    def do(self, task: Task, registry: Registry, show: Reporter) -> None:
        begun = time.perf_counter()
        context = Context(
            manifest=task.manifest,
            progress=show.started(task),
            seed=self.settings.seed,
            master=self.settings.master,
            build=self.settings.build,
            workers=self.settings.workers,
            memory=self.settings.memory,
        )
        try:
            found = _judge(task, registry, context)
        except StoppedError:
            raise
        except Exception as error:  # noqa: BLE001  one broken judge must not hide what the others find
            why = _unjudged(task, error, build=self.settings.build)
            self.failed.append(why)
            show.unjudged(task, why)
        else:
            self.found += found
            show.judged(task, found, seconds=time.perf_counter() - begun)
        self.task_seconds[task.name] = time.perf_counter() - begun
        self.done += 1


def _task_name(judgement: Judgement) -> str:
    return f"{judgement.verdict.subject.judge}/{judgement.verdict.subject.instance}"


def _judge(task: Task, registry: Registry, context: Context) -> list[Judgement]:
    by: Judge | None = registry.get(task.judge)
    if by is None:
        raise MissingToolError(
            f"there is no judge {task.judge!r}", remedy=f"known: {', '.join(sorted(registry))}"
        )
    return judgements(task, by, by.run(task.entry, context))


def _unjudged(task: Task, error: Exception, *, build: Path) -> Unjudged:
    if isinstance(error, CheckError):
        code, message, remedy = error.exit_code, error.message, error.remedy
    elif isinstance(error, _BAD_INPUT):
        code, message = ExitCode.BAD_INPUT, str(error)
        remedy = getattr(error, "remedy", "correct the entry in the manifest")
    else:
        code, message = ExitCode.INTERNAL_ERROR, f"{type(error).__name__}: {error}"
        log = build / "internal-errors.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{task.name}\n{''.join(traceback.format_exception(error))}\n")
        remedy = f"report it with {log.name} from the build folder"
    return Unjudged(task=task.name, exit_code=code, message=message, remedy=remedy, replay=task.command)


class _Texts(NamedTuple):
    """What the specification and the manifest say in words."""

    descriptions: dict[str, str]
    sources: dict[str, SourceNote]


def _texts(tasks: Sequence[Task]) -> _Texts:
    """What each pinned property says and where it comes from, and where the mutants come from."""
    found = _Texts({}, {})
    for protocol in dict.fromkeys(task.manifest.protocol for task in tasks):
        for prop in resolve(protocol).trace().properties:
            found.descriptions[prop.id] = prop.description
            if prop.source:
                found.sources[prop.id] = source_note(prop.source, protocol=protocol)
    for task in tasks:
        if isinstance(task.entry, MutantEntry):
            found.sources[task.entry.name] = source_note(task.entry.source, protocol=task.manifest.protocol)
    return found
