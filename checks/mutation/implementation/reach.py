"""Which statements of the implementation each host runs, with the real code; and that the host is green.

A host that does not run the changed statement says of the mutant what it says of the real code.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from tidemark.checks.mutation.implementation.hosts import Answer, AnyHost, ask
from tidemark.checks.mutation.implementation.trial import Target
from tidemark.models.mutation.source.mutants import SourceMutant
from tidemark.models.mutation.source.planting import probed


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What a host does with the real code.

    lines: by file the first lines of the statements that it runs. seconds: processor time.
    """

    host: str
    answer: Answer
    lines: Mapping[str, frozenset[int]]
    seconds: float

    def runs(self, mutant: SourceMutant) -> bool:
        """Does the host run what the mutant changes?"""
        return mutant.line in self.lines.get(mutant.file, frozenset())


def reach_of(host: AnyHost, files: Iterable[str], target: Target, *, seed: int = 0) -> Reach:
    """Run the host, and note what it runs of the files."""
    lines: dict[str, set[int]] = {file: set() for file in files}
    begun = time.process_time()
    with ExitStack() as stack:
        for file, found in lines.items():
            stack.enter_context(probed(file, found.add, root=target.root, package=target.package))
        answer = ask(host, seed=seed)
    return Reach(
        host=host.name,
        answer=answer,
        lines={file: frozenset(found) for file, found in lines.items()},
        seconds=time.process_time() - begun,
    )


def in_order(hosts: Sequence[AnyHost], reaches: Mapping[str, Reach], mutant: SourceMutant) -> list[AnyHost]:
    """The hosts that run what the mutant changes, in the given order."""
    return [host for host in hosts if reaches[host.name].runs(mutant)]
