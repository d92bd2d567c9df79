"""``tidemark cross-check``: every instance of a tier against other model checkers, and a table."""

import fnmatch
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

from tidemark.checks.crosscheck.outcome import Comparison, native
from tidemark.checks.crosscheck.spin import SpinError, require_spin, run_spin
from tidemark.checks.crosscheck.tlc import JAR, comparable, require_tlc, run_tlc, tlc_jar
from tidemark.checks.inputs.manifests import manifests as read
from tidemark.checks.report.console import wide_console
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.instance import BadInstance
from tidemark.models.manifest import InstanceEntry, Manifest, Tier, instance_of
from tidemark.models.manifest.about import about


def cross_check(
    *, only: str, tier: Tier, states: int, seconds: float, build: Path, manifests: Sequence[Path]
) -> int:
    """Compare, print a table, return the exit status: different results are an unexpected refutation.

    Raises MissingToolError if Spin is not there, BadInputError if no instance is chosen.
    """
    known = read(manifests)
    require_spin()
    jar = tlc_jar()
    if jar:
        require_tlc(jar)
    found: list[Comparison] = []
    entries = chosen(known, only=only, tier=tier)
    print(about((one, entry.name) for one in known for entry in one.instance if entry in entries))
    for entry in entries:
        for done in _compare(entry, states=states, seconds=seconds, folder=build / "cross-check", jar=jar):
            print(f"{done.tool:<5} {done.instance:<36} {done.result()}", flush=True)
            found.append(done)
    wide_console().print(_table(found))
    return conclude(found, jar=jar)


def chosen(manifests: Sequence[Manifest], *, only: str, tier: Tier) -> list[InstanceEntry]:
    """The instances of a tier, smallest first; ``only`` is a name or a pattern with ``*`` of any tier."""
    known = [entry for manifest in manifests for entry in manifest.instance]
    found = [
        entry
        for entry in known
        if (fnmatch.fnmatchcase(entry.name, only) if only else tier is Tier.FULL or entry.tier is Tier.FAST)
    ]
    if not found:
        raise BadInputError(
            f"no instance matches {only!r}",
            remedy=known_names(only, [e.name for e in known], lists="tidemark show"),
        )
    return sorted(found, key=lambda entry: entry.counts.get("distinct", 0))


def _compare(
    entry: InstanceEntry, *, states: int, seconds: float, folder: Path, jar: str
) -> Iterator[Comparison]:
    expected = entry.counts.get("distinct", 0)
    tools = ["Spin", "TLC"] if jar else ["Spin"]
    if expected > states:
        for tool in tools:
            yield Comparison(entry.name, tool, skipped=f"{expected:,} states, --states is {states:,}")
        return
    instance = instance_of(entry)
    ours = native(instance)
    for tool in tools:
        try:
            if tool == "Spin":
                theirs = run_spin(
                    instance, folder=folder / entry.name, states=ours.distinct, timeout_s=seconds
                )
            else:
                theirs = run_tlc(instance, folder=folder / entry.name, jar=jar, timeout_s=seconds)
        except BadInstance as error:
            yield Comparison(entry.name, tool, skipped=str(error))
            continue
        except SpinError as error:
            yield Comparison(entry.name, tool, ours, None, failed=error.message)
            continue
        yield Comparison(entry.name, tool, ours if tool == "Spin" else comparable(instance, ours), theirs)


def _table(found: Sequence[Comparison]) -> Table:
    table = Table("instance", "tool", "distinct", "generated", "decided", "ours s", "theirs s", "result")
    for column in table.columns[2:7]:
        column.justify = "right"
    for done in found:
        if done.ours is None or done.theirs is None:
            continue  # has its line above
        table.add_row(
            done.instance,
            done.tool,
            f"{done.theirs.distinct:,}",
            f"{done.theirs.generated:,}",
            str(len(done.theirs.decided)),
            f"{done.ours.seconds:.1f}",
            f"{done.theirs.seconds:.1f}",
            "same" if done.agrees else "DIFFERS",
        )
    return table


def conclude(found: Sequence[Comparison], *, jar: str = "") -> int:
    """One sentence, what is not the same, and the exit status. Nothing compared is never success."""
    same = [done for done in found if done.agrees]
    left = [done for done in found if done.skipped]
    cut = [done for done in found if done.theirs is not None and done.theirs.stopped]
    differ = [done for done in found if done not in same and done not in left and done not in cut]
    tools = "Spin and TLC" if jar else f"Spin; TLC was not run, for {JAR} names no jar"
    print(
        f"{len(same)} the same, {len(differ)} different, {len(cut)} cut off, {len(left)} left out ({tools})"
    )
    for done in (*differ, *cut):
        print(f"  {done.instance}: {done.result()}")
        print(f"    replay:  tidemark cross-check {done.instance}")
    if differ:
        return ExitCode.UNEXPECTED_REFUTATION.value
    return (ExitCode.AS_EXPECTED if same and not cut else ExitCode.INCONCLUSIVE).value
