"""A runnable Python program for a counterexample."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from tidemark.checks.verdicts.counterexample import Counterexample, Shape

_INTERPRETED = '''"""{title}

Run it with a Python that has Tidemark installed:  python {file}
Exit status 1: reproduced. 0: the property holds on this run now. 2: the run is no longer possible.
"""

import sys
from pathlib import Path

sys.path.insert(0, str((Path(__file__).parent / {modules!r}).resolve()))

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter, Step

instance = Instance(
    {protocol!r},
    bounds={bounds!r},
    constants={constants!r},
    name={name!r},
)
interpreter = Interpreter(instance)
state = {initial}
steps = [
{steps}
]

states = [state]
for number, step in enumerate(steps, start=1):
    transition = interpreter.apply(state, step)
    if transition is None:
        print(f"step {{number}}, {{step}}, is not enabled: {{interpreter.failing_guard(state, step)}}")
        sys.exit(2)
    before, state = state, transition.state
    names = [variable.name for variable in interpreter.spec.variables]
    changed = [name for name, old, new in zip(names, before, state, strict=True) if old != new]
    print(f"{{number}}. {{step}}  changes {{', '.join(changed) or 'nothing'}}")
    states.append(state)

prop = interpreter.spec.property({property_id!r})
{decide}
print(f"{{prop.id}}: {{prop.description}}")
print("holds on this run" if good else "REFUTED")
sys.exit(0 if good else 1)
'''

_DECIDE_STATES = """if prop.kind == "transition_invariant":
    good = all(interpreter.holds(prop, one, two) for one, two in zip(states, states[1:], strict=False))
else:
    good = interpreter.holds(prop, states[-1])"""

_DECIDE_LASSO = """# The run waits for the conclusion for ever, its cycle is closed, and it is fair.
from tidemark.checks.explore.lasso import broken_case

good = broken_case(interpreter, prop, states=states, steps=steps, loop_start={loop}) is None"""

_BY_CHOICES = '''"""{title}

Run it with a Python that has Tidemark installed:  python {file}
"""

import os
import sys
from pathlib import Path

os.chdir((Path(__file__).parent / {folder!r}).resolve())  # the folder of the run: names of files begin there
sys.path.insert(0, str(Path.cwd()))

from tidemark.checks.cli.app import run

sys.exit(run({words!r}))
'''


def reproducer(
    trace: Counterexample, *, title: str, name: str, property_id: str, file: Path, replay: str
) -> str | None:
    """The program's text, or None if the trace says neither instance nor replay token.

    Args:
        trace: the counterexample.
        title: what it is about, in one line.
        name: of the manifest's instance.
        property_id: the property that fails.
        file: where the program will be.
        replay: the command that runs it again.
    """
    here = Path.cwd()
    shown = shlex.quote(file.relative_to(here).as_posix() if file.is_relative_to(here) else file.name)
    if trace.token:
        words = shlex.split(replay)[1:] if replay.startswith("tidemark replay ") else ["replay", trace.token]
        return _BY_CHOICES.format(title=title, file=shown, folder=_from(file, here), words=words)
    model = trace.model
    if model is None:
        return None
    decide = _DECIDE_STATES
    if trace.shape is Shape.LASSO:
        decide = _DECIDE_LASSO.format(loop=trace.loop_start)
    steps = "\n".join(f"    Step({step.action!r}, {tuple(step.args.values())!r})," for step in trace.steps)
    return _INTERPRETED.format(
        title=title,
        file=shown,
        modules=_from(file, _root_of(model.protocol) or here),
        protocol=model.protocol,
        bounds=model.bounds,
        constants=model.constants,
        name=name,
        initial=tuple(trace.initial.values()),
        steps=steps,
        property_id=property_id,
        decide=decide,
    )


def _from(file: Path, folder: Path) -> str:
    """A folder as it is named from the folder of a file."""
    return Path(os.path.relpath(folder, file.parent)).as_posix()


def _root_of(protocol: str) -> Path | None:
    """The folder in which the module of a protocol is looked for; None for one of ours."""
    name = protocol.partition(":")[0]
    source = getattr(sys.modules.get(name), "__file__", None)
    if source is None or name.startswith("tidemark."):
        return None
    return Path(source).resolve().parents[name.count(".")]
