"""The planted bugs of a manifest: programs that must fail, and an execution of each that does."""

from dataclasses import replace

from tidemark.checks.interleave.audits.audit import FOOTPRINTS
from tidemark.checks.interleave.judge import program_of
from tidemark.checks.interleave.limits import ExecutionLimits, Options, Reduction
from tidemark.checks.interleave.result import Found
from tidemark.checks.interleave.searches import explore, explore_randomly
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.manifest import InterleaveEntry, Manifest

SEED = 1
SAMPLE = 400
"""Random executions before a search is worth its time."""


def planted_bugs(manifest: Manifest) -> dict[str, InterleaveEntry]:
    """The mutants of the implementation by name: each is its host's entry, with the program that is wrong.

    Without those that only an endless run or the audit shows: no execution of them fails.
    """
    hosts = {entry.name: entry for entry in manifest.interleave}
    return {
        mutant.name: hosts[mutant.instance].model_copy(update={"program": mutant.ref})
        for mutant in manifest.mutant
        if mutant.instance in hosts and mutant.killer not in (FOOTPRINTS, *hosts[mutant.instance].live)
    }


def failing_execution(entry: InterleaveEntry) -> Found:
    """An execution that fails: a random one if that is found soon, or else the first one of a search
    in depth, which begins with the natural order.

    Random ones are far from the natural order, and give a shrinker more to do. Raises BadInputError: the
    program does not fail.
    """
    program = program_of(entry)
    options = Options(reduction=entry.reduction, stop_at_violation=True, check_every=0, audit=0)
    found = explore_randomly(program, seed=SEED, executions=SAMPLE, options=options)
    if not found.violations:
        limits = ExecutionLimits(executions=entry.limit)
        found = explore(program, replace(options, reduction=Reduction.SLEEP_SETS, limits=limits))
    if not found.violations:
        raise BadInputError(f"{entry.program} never fails in {entry.name}", remedy="choose another program")
    return found.first()
