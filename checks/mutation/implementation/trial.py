"""The process in which one mutant is tried: put in, tried by each host in turn, first kill ends it."""

from __future__ import annotations

import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType

from tidemark.checks.interleave.search_loop import set_aside
from tidemark.checks.mutation.implementation.fate import Fate, Trial
from tidemark.checks.mutation.implementation.hosts import Answer, AnyHost, Kind, ask
from tidemark.models.mutation.patches import SLIP, Patch, patched
from tidemark.models.mutation.source.mutants import folder_of, mutant_of
from tidemark.models.mutation.source.planting import planted
from tidemark.models.refinement.queries import Asked
from tidemark.models.refinement.step import asking
from tidemark.models.simulation.closed_world import GUARD
from tidemark.spec.language.references import load_reference

TICK_S = 0.5
"""Processor time between two looks at the stack."""
_STUCK_TICKS = 6
"""Looks in a row with the same call on the stack after which a step counts as endless. A step takes
microseconds; the same call is never seen twice in a run of the real code."""


UNCHANGED = "control:unchanged"
"""Id of a trial of the real code: every host must say what it is pinned to say."""
FAILING = "control:failing"
"""Id of a trial that cannot be made: it must come out as broken, never as a kill."""
DYING = "control:dying"
"""Id of a trial whose process ends without a word: likewise."""


@dataclass(frozen=True)
class Target:
    """The code that is made wrong. root: its folder. package: its name as a package. slips: where a list of
    ``Patch`` is, as ``module:NAME``; empty if there is none.
    """

    root: Path
    package: str
    slips: str = ""

    @classmethod
    def of(cls, package: str, slips: str = "") -> Target:
        """The package of that name. Raises ModuleNotFoundError."""
        return cls(folder_of(package), package, slips)

    def patches(self) -> dict[str, Patch]:
        """The slips by their ids. Raises SpecError: there is no such list."""
        found = load_reference(self.slips, what="list of slips") if self.slips else ()
        return {patch.slip: patch for patch in found}

    def planting(self, mutant_id: str) -> AbstractContextManager[None]:
        """Run the mutant in place of the real code. Raises KeyError and PlantingError."""
        if mutant_id == DYING:
            os._exit(3)
        if mutant_id == UNCHANGED:
            return nullcontext()
        if SLIP in mutant_id:
            return patched(self.patches()[mutant_id])
        return planted(mutant_of(self.root, mutant_id), root=self.root, package=self.package)


@dataclass(frozen=True)
class Began:
    """The process has come to this host."""

    host: str


@dataclass(frozen=True)
class Noted:
    """What the trial has asked of specifications. It comes before the trial, or not at all."""

    asked: tuple[Asked, ...]


@dataclass(frozen=True)
class Job:
    """One mutant to be tried. limits: processor seconds that each host may take. noting: tell what is asked
    of specifications.
    """

    target: Target
    mutant: str
    hosts: tuple[AnyHost, ...]
    limits: tuple[float, ...]
    seed: int
    noting: bool = False


def work(parent: Connection, job: Job) -> None:
    """The main function of the process: sends ``Began`` for each host, and one ``Trial`` at the end.

    An error that says nothing about the mutant is a trial
    that is ``BROKEN``; no answer at all is one, too.
    """
    set_aside(collect=False)  # pytest collects at its end, several times
    tried: list[str] = []

    def tell(fate: Fate, host: str = "", answer: Answer = _NO_ANSWER) -> None:
        trial = Trial(
            id=job.mutant,
            fate=fate,
            host=host,
            claim=answer.claim,
            words=" ".join(answer.words.split())[:400],
            tried=tuple(tried),
            seconds=time.process_time() - begun,
        )
        parent.send(trial)

    def endless(words: str) -> None:
        tell(Fate.ENDLESS, tried[-1], Answer(Kind.ERROR, words=words))

    begun = time.process_time()
    watch = Watch(str(job.target.root), endless)
    noting: AbstractContextManager[list[Asked]] = asking() if job.noting else nullcontext([])
    try:
        with noting as asked, job.target.planting(job.mutant):
            seen: dict[str, Answer] = {}
            for host, limit in zip(job.hosts, job.limits, strict=True):
                tried.append(host.name)
                parent.send(Began(host.name))
                allow(limit)
                with watch:
                    seen[host.name] = ask(host, seed=job.seed)
                if seen[host.name].kind is Kind.CLAIM:
                    break
        if job.noting:
            parent.send(Noted(tuple(asked)))
        tell(*_fate_of(seen))
    except BaseException as error:  # noqa: BLE001  whatever it is, it is no word about the mutant
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        tell(Fate.BROKEN, "", Answer(Kind.ERROR, words=f"{type(error).__name__}: {error} at {place}"))


_NO_ANSWER = Answer(Kind.SAME)
_FATES = ((Kind.CLAIM, Fate.KILLED), (Kind.ERROR, Fate.REFUSED), (Kind.COUNT, Fate.COUNTED))


def _fate_of(seen: Mapping[str, Answer]) -> tuple[Fate, str, Answer]:
    """What the answers of the hosts say together. If no claim is refuted, a judge that ended with an error
    says more than a changed count.
    """
    for kind, fate in _FATES:
        for host, answer in seen.items():
            if answer.kind is kind:
                return fate, host, answer
    return Fate.SURVIVED, "", _NO_ANSWER


def allow(seconds: float) -> None:
    """The system ends the process when it has used so much processor time more."""
    used = time.process_time()
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 2, resource.RLIM_INFINITY))


class Watch:
    """Finds a step that does not end: looks at the stack from time to time, in processor time.

    Args:
        folder: calls of functions in files below it count.
        tell: told what was found; the process ends then.
        tick: processor seconds between two looks.
    """

    def __init__(self, folder: str, tell: Callable[[str], None], *, tick: float = TICK_S) -> None:
        self._folder = folder
        self._tell = tell
        self._tick = tick
        self._frames: list[FrameType] = []
        self._times = 0

    def __enter__(self) -> None:
        self._frames, self._times = [], 0
        signal.signal(signal.SIGVTALRM, self._look)
        signal.setitimer(signal.ITIMER_VIRTUAL, self._tick, self._tick)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        self._frames = []

    def _look(self, _signal: int, frame: FrameType | None) -> None:
        running = []
        while frame is not None:
            if frame.f_code.co_filename.startswith(self._folder):
                running.append(frame)
            frame = frame.f_back
        same = [one for one in running if any(one is other for other in self._frames)]
        self._frames, self._times = (same, self._times + 1) if same else (running, 0)
        if self._times >= _STUCK_TICKS:
            code = same[0].f_code
            seconds = self._tick * self._times
            GUARD.armed = False  # what is told needs a clock, and the program ends here
            self._tell(f"{code.co_qualname} is still running after {seconds:g} s of processor time")
            os._exit(0)
