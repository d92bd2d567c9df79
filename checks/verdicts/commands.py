"""The commands that are printed: how to run something again, or go on with it.

Judges name what they ran by the functions of this module, without the options of the present run. What is
shown and written gets these options from the ``Invocation``. A line can then be pasted into a fresh shell in
the same folder, and means the same check of the same manifest.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BUILD = Path("build")
"""The folder for the files of a run, if none is given."""

PARTIAL = "verdicts.partial.jsonl"
"""The journal of a run that is not finished, in the folder of its files."""

EVIDENCE_BUILD = BUILD / "evidence"
"""The same for evidence."""

LOCAL = "local[*]"
"""The Spark master, if none is given."""

_PROGRAM = "tidemark"
_TAKES = {
    "verify": ("manifest", "build", "seed", "master"),
    "prove": ("manifest", "seed"),
    "pin": ("manifest",),
    "replay": ("manifest",),
    "report": ("build",),
}
"""The options of a run that a command takes."""


def check_command(judge: str, entry: str) -> str:
    """The command that runs one judge on one manifest entry."""
    return f"{_PROGRAM} verify --tier full --only {judge}/{entry}"


def pin_command(protocol: str) -> str:
    """The command that writes the pins of a protocol anew."""
    return f"{_PROGRAM} pin {protocol}"


def token_command(token: str) -> str:
    """The command that takes the run of a token again."""
    return f"{_PROGRAM} replay {shlex.quote(token)}"


def prove_command(what: str, option: str, value: int) -> str:
    """The command for runs of bounded length, or induction over several steps."""
    return f"{_PROGRAM} prove {shlex.quote(what)} {option} {value}"


def evidence_command(
    paths: Sequence[Path], *, build: Path, instance: str = "", manifests: Sequence[Path] = ()
) -> str:
    """The command that judges the same evidence again, with all of its options."""
    words = ["evidence", *map(str, paths)]
    words += [] if build == EVIDENCE_BUILD else ["--build", str(build)]
    words += ["--instance", instance] if instance else []
    words += [word for path in manifests for word in ("--manifest", str(path))]
    return shlex.join([_PROGRAM, *words])


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """The options of the present run that a printed command must repeat.

    Attributes:
        words: the command line as it was given, without the program; empty if there was none.
        manifests: manifest files as they were given; none for those of the project.
    """

    words: tuple[str, ...] = ()
    manifests: tuple[Path, ...] = ()
    build: Path = BUILD
    seed: int = 0
    master: str = LOCAL

    def complete(self, command: str) -> str:
        """A command of this module with the options that it takes; another text as it is."""
        program, _, rest = command.partition(" ")
        takes = _TAKES.get(rest.partition(" ")[0], ()) if program == _PROGRAM else ()
        return " ".join([command, *(word for option in takes for word in self._option(option))])

    def resume(self) -> str:
        """The command that goes on with what was stopped."""
        words = [word for word in self.words if word != "--resume"]
        return shlex.join([_PROGRAM, *(words or ["verify"]), "--resume"])

    def _option(self, name: str) -> Sequence[str]:
        if name == "manifest":
            return [word for path in self.manifests for word in ("--manifest", shlex.quote(str(path)))]
        value, default = {
            "build": (str(self.build), str(BUILD)),
            "seed": (str(self.seed), "0"),
            "master": (self.master, LOCAL),
        }[name]
        return [] if value == default else [f"--{name}", shlex.quote(value)]
