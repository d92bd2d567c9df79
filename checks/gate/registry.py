"""The judges by name. Each is imported when it first runs, so that no engine slows the others' start."""

from functools import cached_property
from importlib import import_module

from tidemark.checks.verdicts.errors import missing_package
from tidemark.checks.verdicts.judge import Context, Judge, Registry
from tidemark.checks.verdicts.verdict import Verdict
from tidemark.models.manifest import AnyEntry, Kind

_MODULES = {
    "pins": "tidemark.checks.pins.judge",
    "frames": "tidemark.checks.frames.judge",
    "strength": "tidemark.checks.strength.judge",
    "argue": "tidemark.checks.argument.judge",
    "prove": "tidemark.checks.prove.judge",
    "interpreted": "tidemark.checks.interpret.judge",
    "explore": "tidemark.checks.explore.judge",
    "distribute": "tidemark.checks.spark.judge",
    "conform": "tidemark.checks.conform.judge",
    "interleave": "tidemark.checks.interleave.judge",
    "mutate": "tidemark.checks.mutation.judge",
}
"""Each module has a ``JUDGE``."""

_OWN = "tidemark"


class LazyJudge:
    """A judge whose module is imported when it is first needed."""

    def __init__(self, name: str, module: str) -> None:
        self._name = name
        self._module = module

    @property
    def name(self) -> str:
        """The name in verdicts and on the command line."""
        return self._name

    @property
    def module(self) -> str:
        """The module whose code it runs."""
        return self._module

    @cached_property
    def _judge(self) -> Judge:
        try:
            judge: Judge = import_module(self._module).JUDGE
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == _OWN:
                raise  # a mistake of ours, which no installation mends
            raise missing_package(f"the judge {self._name!r}", error) from error
        return judge

    @property
    def kinds(self) -> frozenset[Kind]:
        """Kinds of property that it decides."""
        return self._judge.kinds

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """See ``Judge``."""
        return self._judge.run(entry, context)


def modules(judges: Registry) -> dict[str, str]:
    """The module of each judge by name: what its verdicts depend on begins there. A judge that is given as an
    object may depend on anything, and is left out.
    """
    return {name: judge.module for name, judge in judges.items() if isinstance(judge, LazyJudge)}


def registry() -> dict[str, Judge]:
    """All judges."""
    return {name: LazyJudge(name, module) for name, module in _MODULES.items()}
