"""The command ``watch``: judge what a save touches, in fresh processes."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tidemark.checks.cli.run import chosen_tasks, kept_of
from tidemark.checks.gate.lock import hold
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.settings import Settings
from tidemark.checks.report.console import wide_console
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.watch.changes import sources_below, turn, watch
from tidemark.models.manifest import ManifestError, Tier, chosen_manifests
from tidemark.models.rooms import files
from tidemark.spec.language.errors import SpecError

_SUFFIXES = frozenset({".py", ".toml"})


def once(settings: Settings, *, only: Sequence[str]) -> int:
    """Judge what has changed since it was judged last; returns the exit status."""
    chosen_manifests(settings.manifests)
    judges = registry()
    kept = kept_of(settings, judges)
    console = wide_console()
    try:
        tasks = chosen_tasks(settings.manifests, tier=Tier(settings.tier), only=only, kept=kept)
    except (ManifestError, SpecError) as error:
        console.print(f"BROKE  {error}", markup=False, highlight=False, soft_wrap=True)
        return ExitCode.BAD_INPUT.value
    with hold(settings.build, words=settings.words, wait=True):
        result = turn(tasks, kept=kept, registry=judges, settings=settings, console=console)
    green = result.planned == 0 and not result.stopped
    return ExitCode.AS_EXPECTED.value if green else result.exit_code.value


def forever(settings: Settings) -> int:
    """Run ``watch --once`` with the same options after each save, until Ctrl-C."""
    console = wide_console()
    chosen_manifests(settings.manifests)  # a mistake in the command line is told now, not after each save
    command = [sys.executable, "-m", "tidemark.checks", *settings.words, "--once"]

    def sources() -> Iterator[Path]:
        yield from files(suffixes=_SUFFIXES)
        for folder in {path.absolute().parent for path in chosen_manifests(settings.manifests)}:
            yield from sources_below(folder, besides=settings.build)

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    try:
        watch(command, files=sources, say=say)
    except KeyboardInterrupt:
        say("ended")
    return ExitCode.AS_EXPECTED.value
