"""The directory of a distributed search: whose it is, how far it came, and whether its files are whole."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.checks.spark.search.rounds import Plan, start
from tidemark.checks.spark.search.search_kernel import (
    StateFinding,
    StepFacts,
    kernel_of,
    merge_states,
    states_from_json,
)
from tidemark.checks.spark.states.level_log import CorruptFileError, read_header
from tidemark.checks.spark.states.store import Store
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.digest import digest_of, instance_digest
from tidemark.models.instance import Instance

FORMAT = 1
_NAME = "run.json"


@dataclass(frozen=True, kw_only=True)
class RoundFacts:
    """One complete round, added up over its partitions: its states, and what expanding the round before
    found out.
    """

    number: int
    states: int
    findings: dict[str, StateFinding]
    steps: StepFacts
    finished: float
    """When the last of its files was written, in seconds of the file system's clock."""


@dataclass(frozen=True)
class RunDirectory:
    """A run directory that was made or found. ``plan`` is the plan of round 0."""

    root: Path
    plan: Plan

    @classmethod
    def create(cls, root: Path, instance: Instance, *, factory: str, partitions: int) -> RunDirectory:
        """A new run: writes the header and round 0. Raises BadInputError if the directory is in use."""
        if root.exists() and any(root.iterdir()):
            holds = "holds a run already" if (root / _NAME).exists() else "is not empty and holds no run"
            raise BadInputError(
                f"the directory {root} {holds}", remedy="resume that run, or name a new or an empty directory"
            )
        root.mkdir(parents=True, exist_ok=True)
        header = _header(instance, factory, partitions)
        directory = cls(root, _plan(root, header, instance, factory))
        start(directory.plan)
        temporary = root / f".{_NAME}.tmp"
        temporary.write_text(json.dumps(header, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        temporary.replace(root / _NAME)
        return directory

    @classmethod
    def resume(cls, root: Path, instance: Instance, *, factory: str, partitions: int | None) -> RunDirectory:
        """A run that was stopped. Raises BadInputError if there is none, or if it is the run of something
        else.
        """
        try:
            found = json.loads((root / _NAME).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BadInputError(
                f"the directory {root} holds no run", remedy="start it without resuming"
            ) from None
        except ValueError as error:
            raise CorruptFileError(root / _NAME, f"it is not JSON ({error})") from error
        wanted = _header(instance, factory, partitions or found.get("partitions", 0))
        odd = [name for name in wanted if name not in ("run", "name") and found.get(name) != wanted[name]]
        if odd:
            text = "; ".join(f"{name} is {found.get(name)!r}, not {wanted[name]!r}" for name in odd)
            raise BadInputError(
                f"the directory {root} holds the run of another search: {text}",
                remedy="name the directory of this search, or start it in an empty one",
            )
        return cls(root, _plan(root, found, instance, factory))

    @property
    def store(self) -> Store:
        """The files of the run."""
        return self.plan.store

    def complete_rounds(self) -> int:
        """Number of rounds, from 0 on, of which every partition has its file."""
        rounds = []
        for partition in range(self.plan.partitions):
            numbers = {span.first for span in self.store.spans(partition) if span.first == span.last}
            rounds.append(next(number for number in range(len(numbers) + 1) if number not in numbers))
        return min(rounds)

    def verify(self, rounds: int) -> None:
        """Read the logs of the first ``rounds`` rounds. Raises CorruptFileError that names the file and
        offers a round.
        """
        for number in range(rounds):
            for partition in range(self.plan.partitions):
                try:
                    self.store.open(self.store.log_path(number, partition), partition)
                except CorruptFileError as error:
                    raise _with_offer(error, number) from error

    def keep(self, rounds: int) -> None:
        """Forget all but the first ``rounds`` rounds. Raises BadInputError if there are fewer whole ones."""
        there = self.complete_rounds()
        if not 0 < rounds <= there:
            raise BadInputError(
                f"{self.root} has {there} complete rounds and no round {rounds - 1}",
                remedy="resume from the last round, or from one of those",
            )
        self.store.forget_from(rounds, self.plan.partitions)

    def facts(self, number: int) -> RoundFacts:
        """A complete round, from the headers of its files. Raises CorruptFileError, FileNotFoundError."""
        states, finished, findings, steps = 0, 0.0, dict[str, StateFinding](), StepFacts()
        for partition in range(self.plan.partitions):
            path = self.store.log_path(number, partition)
            header = read_header(path)
            if (header.run, header.first, header.partition) != (self.plan.run, number, partition):
                raise CorruptFileError(path, f"it belongs to round {header.first} of run {header.run}")
            finished = max(finished, path.stat().st_mtime)
            states += header.states
            merge_states(findings, states_from_json(header.facts["states"]))
            steps.merge(StepFacts.from_json(header.facts["steps"]))
        return RoundFacts(number=number, states=states, findings=findings, steps=steps, finished=finished)


def _with_offer(error: CorruptFileError, number: int) -> CorruptFileError:
    if number > 0:
        error.remedy = f"resume from round {number - 1}, the last one before it"
        error.args = (f"{error.path} is corrupt: {error.reason}",)
    return error


def _header(instance: Instance, factory: str, partitions: int) -> dict[str, Any]:
    header: dict[str, Any] = {
        "format": FORMAT,
        "protocol": instance.protocol,
        "bounds": {
            name: list(b) if isinstance(b, tuple) else b for name, b in sorted(instance.bounds.items())
        },
        "constants": json.loads(json.dumps(dict(sorted(instance.constants.items())))),
        "spec": instance_digest(instance),
        "partitions": partitions,
        "words": kernel_of(instance, factory).words,
    }
    header["run"] = digest_of(json.dumps(header, sort_keys=True))
    header["name"] = instance.name
    return header


def _plan(root: Path, header: dict[str, Any], instance: Instance, factory: str) -> Plan:
    return Plan(
        root=str(root.absolute()),
        run=header["run"],
        instance=instance,
        factory=factory,
        partitions=header["partitions"],
        number=0,
        session=uuid.uuid4().hex,
    )
