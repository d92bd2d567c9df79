"""A small project of a user: a protocol, an implementation, judges, a manifest; and runs of a gate over it.

The judges say what is expected. What is tested is who is asked: a run returns the names of the tasks that
were not taken over.
"""

import importlib
import linecache
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tidemark.checks.cache.kept import Kept, Use
from tidemark.checks.verdicts.plan import Task, plan
from tidemark.checks.verdicts.result import TaskResult
from tidemark.checks.verdicts.verdict import Judgement, Outcome, Subject, holds, judge
from tidemark.models.manifest import Manifest, Tier, parse

FILES = {
    "__init__": "",
    "lights": """
        from tidemark.spec.language import Bool, Nat, Protocol, action, invariant, lemma, option, require

        class Lights(Protocol):
            '''A lamp.'''
            Turn = Nat()
            CAREFUL: Bool = option(True)
            lit: Bool = False
            turns: Turn = 0

            @action
            def switch_on(s):
                '''Light it.'''
                require(~s.lit)
                s.lit = True
                s.turns = s.turns + 1

            @action
            def switch_off(s):
                '''Put it out.'''
                require(s.lit & s.CAREFUL)
                s.lit = False

            @invariant()
            def bright(s):
                '''Something was lit.'''
                return ~s.lit | (s.turns >= 1)

            @lemma()
            def few(s):
                '''It wears out.'''
                return s.lit | (s.turns <= 99)
        """,
    "ferry": """
        from tidemark.spec.language import Bool, Protocol, action, invariant, require

        class Ferry(Protocol):
            '''Another protocol.'''
            left: Bool = True
            right: Bool = False

            @action
            def cross(s):
                '''Go.'''
                require(s.left)
                s.left = False
                s.right = True

            @invariant()
            def somewhere(s):
                '''It is on a side.'''
                return s.left | s.right
        """,
    "mutants": """
        from LAB.lights import Lights
        from tidemark.spec.language import action, require

        class Hasty(Lights):
            def switch_on(s):
                require(~s.lit)
                s.lit = True

        class Stuck(Lights):
            def switch_off(s):
                require(s.lit & (s.turns > 5))
                s.lit = False
        """,
    "lamp": "def switch(on):\n    return not on\n",
    "wiring": "VOLTS = 230\n",
    "program": """
        from LAB.lamp import switch
        from LAB.lights import Lights

        def world():
            import LAB.wiring
            return switch, LAB.wiring.VOLTS
        """,
    "faulty": "from LAB.program import world\n\ndef broken():\n    return world\n",
    "searching": """
        import typing

        HELPER = "LAB.named:help_me"
        if typing.TYPE_CHECKING:
            from LAB import typed

        def run():
            from LAB import lazily
        """,
    "lazily": "import LAB.deeper\n",
    "deeper": "DEPTH = 1\n",
    "named": "def help_me():\n    pass\n",
    "typed": "X = 1\n",
    "proving": "import json\n",
    "running": "",
    "mutating": "from LAB import searching\n",
}

BY_LIGHTS = frozenset(
    {"explore/small", "explore/large", "prove/any", "interleave/world", "mutate/hasty", "mutate/stuck"}
    | {"mutate/broken"}
)
FERRY = frozenset({"explore/ferry"})
EVERYTHING = BY_LIGHTS | FERRY


class Lab:
    """The project below ``folder``, as a package of its own name."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = "lab_" + re.sub(r"\W", "_", folder.name)
        self.build = folder / "build"
        self.root = folder / self.name
        self.root.mkdir()
        for name, text in FILES.items():
            self.write(name, text)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        self.data = self._manifest()

    def write(self, name: str, text: str) -> None:
        content = textwrap.dedent(text).replace("LAB", self.name)
        (self.root / f"{name}.py").write_text(content, encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        path = self.root / f"{name}.py"
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    def tasks(self) -> list[Task]:
        return plan(self.manifests(), tier=Tier.FULL)

    def manifests(self) -> list[Manifest]:
        """The manifest of the lights, and one of another protocol."""
        ferry: dict[str, Any] = {
            "name": "ferry",
            "protocol": f"{self.name}.ferry:Ferry",
            "properties": {"invariant": ["ferry.somewhere"]},
            "instance": [self._instance("ferry", "ferry:Ferry", bounds={})],
        }
        return [parse(self.data, file="lights.toml"), parse(ferry, file="ferry.toml")]

    def kept(self, *, begun: float = float("inf"), seed: int = 0, use: Use | None = None) -> Kept:
        """The cache of a new process, which began after all changes."""
        for module in [one for one in sys.modules if one.partition(".")[0] == self.name]:
            del sys.modules[module]
        importlib.invalidate_caches()
        linecache.clearcache()
        modules = {"explore": "searching", "prove": "proving", "interleave": "running", "mutate": "mutating"}
        return Kept(
            build=self.build,
            judges={judge: f"{self.name}.{module}" for judge, module in modules.items()},
            seed=seed,
            options={"master": "local[*]"},
            use=use or Use(),
            begun=begun,
        )

    def run(self, **options: Any) -> frozenset[str]:
        kept, tasks = self.kept(**options), self.tasks()
        taken = kept.take_over(tasks)
        for task in tasks:
            if task.name not in taken:
                kept.keep(task, result(task))
        kept.close()
        self.last = kept
        return frozenset(task.name for task in tasks) - set(taken)

    def _instance(self, name: str, protocol: str, **more: Any) -> dict[str, Any]:
        return {
            "name": name,
            "protocol": f"{self.name}.{protocol}",
            "engines": ["explore"],
            "expect": {"every": "holds"},
            "counts": {"distinct": 3},
        } | more

    def _manifest(self) -> dict[str, Any]:
        def mutant(name: str, ref: str, instance: str, killer: str) -> dict[str, Any]:
            return {
                "name": name,
                "ref": f"{self.name}.{ref}",
                "instance": instance,
                "source": "s",
                "killer": killer,
            }

        return {
            "name": "lights",
            "protocol": f"{self.name}.lights:Lights",
            "properties": {"invariant": ["lights.bright"], "lemma": ["lights.few"]},
            "instance": [
                self._instance("small", "lights:Lights", bounds={"Turn": 3}),
                self._instance("large", "lights:Lights", bounds={"Turn": 9}),
            ],
            "proof": [
                {
                    "name": "any",
                    "protocol": f"{self.name}.lights:Lights",
                    "expect": {"every": "proved"},
                    "counts": {"obligations": 4},
                }
            ],
            "interleave": [
                {
                    "name": "world",
                    "program": f"{self.name}.program:world",
                    "claims": ["refinement"],
                    "constants": {"rows": 1},
                    "expect": {"every": "holds"},
                    "counts": {"final_states": 2},
                }
            ],
            "mutant": [
                mutant("hasty", "mutants:Hasty", "small", "lights.bright"),
                mutant("stuck", "mutants:Stuck", "large", "lights.bright"),
                mutant("broken", "faulty:broken", "world", "refinement"),
            ],
        }


def result(task: Task, *found: Judgement) -> TaskResult:
    """What a judge gives; what is expected if nothing is said."""
    return TaskResult(task=task.name, judgements=found or (verdict(task),), seconds=1.0)


def verdict(task: Task, expected: str = "holds") -> Judgement:
    subject = Subject(
        protocol=task.manifest.name, property_id="claim", judge=task.judge, instance=task.entry.name
    )
    said = holds(subject, counts={"distinct": 3}, bounds="Turn 3", seconds=0.5)
    return judge(said, expected=Outcome(expected))
