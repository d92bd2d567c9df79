"""The commands that judge: read the manifest, plan, run, show, write the files."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from tidemark.checks.cache.kept import JUDGE_CHANGED, Kept, Use
from tidemark.checks.gate.judging import TRACEBACKS
from tidemark.checks.gate.last import keep_failures, replayed
from tidemark.checks.gate.lock import hold
from tidemark.checks.gate.registry import modules, registry
from tidemark.checks.gate.resume import earlier_results
from tidemark.checks.gate.run import run
from tidemark.checks.gate.settings import Settings
from tidemark.checks.inputs.manifests import loaded
from tidemark.checks.report.console import show_result, wide_console
from tidemark.checks.report.files import FORMS, to_json, write_files
from tidemark.checks.report.live import live
from tidemark.checks.verdicts.commands import PARTIAL
from tidemark.checks.verdicts.judge import Registry
from tidemark.checks.verdicts.plan import Task, plan
from tidemark.checks.verdicts.result import RunResult
from tidemark.models.manifest import ProofEntry, Tier, chosen_manifests
from tidemark.models.manifest.about import about


def chosen_tasks(
    paths: Sequence[Path], *, tier: Tier, only: Sequence[str], judge: str | None = None, kept: Kept
) -> list[Task]:
    """The plan of a run. Of a part of the checks, only their manifests are compared with a specification.

    A manifest that agreed with the same text of its specification is not compared again.
    Raises ManifestError, PinError, or the errors of the plan.
    """
    everything = judge in (None, "mutate")
    found = loaded(paths, of=only, mutants=everything)
    tasks = plan(found, tier=tier, only=only, judge=judge)
    whole = not only and judge is None
    needed = {task.manifest.name for task in tasks}
    if everything:
        kept.know(found)
    for manifest in found:
        if whole or manifest.name in needed:
            kept.check_once(manifest)
    return tasks


def gate(
    settings: Settings,
    *,
    only: Sequence[str] = (),
    judge: str | None = None,
    resume: bool = False,
    judges: Registry | None = None,
    use: Use = JUDGE_CHANGED,
    seconds: float | None = None,
    console: Console | None = None,
) -> int:
    """Run the chosen checks, show and write the result; returns the exit status.

    ``use`` says what is taken over from earlier runs. One check alone, and one judge's, are always run.
    ``seconds`` is the limit of one query of a proof; None for that of the manifest.
    Raises the errors of the manifest and of the plan, before anything runs; BadInputError if the build folder
    cannot be written, or if another run has it.
    """
    chosen_manifests(settings.manifests)  # where there are none, no folder is made
    screen = console or (Console(stderr=True) if settings.json else wide_console())
    judging = judges or registry()
    with hold(settings.build, words=settings.words):
        (settings.build / TRACEBACKS).unlink(missing_ok=True)
        kept = kept_of(settings, judging, use=use)
        chosen = chosen_tasks(settings.manifests, tier=Tier(settings.tier), only=only, judge=judge, kept=kept)
        if seconds is not None:
            chosen = [_with_limit(task, seconds) for task in chosen]
        if judge is not None or (only and len(chosen) == 1):
            kept.use = replace(kept.use, read=False)  # who names a check, or a judge, wants to see it run
        earlier = earlier_results(settings) if resume else None
        _say(screen, about((task.manifest, task.entry.name) for task in chosen))
        for line in replayed(settings.build, chosen):
            _say(screen, line)
        forms = kept.code_in(FORMS)
        result = run(
            chosen, registry=judging, settings=settings, reporter=live(screen), earlier=earlier, kept=kept
        ).with_commands(settings.invocation.complete)
        keep_failures(settings.build, result)
        files, unwritten = _written(result, chosen, settings.build, forms=forms)
        show_result(result, screen, build=settings.build, files=files)
        if settings.json:
            sys.stdout.write(to_json(result))
        if unwritten is not None:
            raise unwritten
        if result.stopped:
            left, partial = len(chosen) - result.done, (settings.build / PARTIAL).as_posix()
            _say(screen, f"what was done is saved in {partial}; {left} checks are left.")
            _say(screen, f"continue with:  {settings.invocation.resume()}")
        return result.exit_code.value


def _with_limit(task: Task, seconds: float) -> Task:
    """The task with this limit of one query, if it is a proof."""
    if not isinstance(task.entry, ProofEntry):
        return task
    return replace(task, entry=task.entry.model_copy(update={"timeout_s": seconds}))


def _written(
    result: RunResult, chosen: Sequence[Task], build: Path, *, forms: str
) -> tuple[list[Path], OSError | None]:
    """The files of the run, or why they cannot be written: what was found is shown in any case."""
    from tidemark.checks.report.page.states import graphs_of

    try:
        graphs = graphs_of((task.entry for task in chosen), result, build=build)
        return write_files(result, build=build, graphs=graphs, forms=forms), None
    except OSError as error:
        return [], error


def kept_of(settings: Settings, judges: Registry, *, use: Use = JUDGE_CHANGED) -> Kept:
    """The kept verdicts of the build folder, for a run with these settings."""
    return Kept(
        build=settings.build,
        judges=modules(judges),
        seed=settings.seed,
        options={"master": settings.master, "workers": settings.workers, "memory": settings.memory},
        use=use,
    )


def _say(screen: Console, text: str) -> None:
    screen.print(text, markup=False, highlight=False, soft_wrap=True)
