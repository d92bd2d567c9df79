"""A runnable Python program for a counterexample."""

from __future__ import annotations

from tidemark.checks.verdicts.counterexample import Counterexample, Shape

_INTERPRETED = '''"""{title}

Run from the root of the repository:  PYTHONPATH=. .venv/bin/python {file}
Exit status 1: reproduced. 0: the property holds on this run now. 2: the run is no longer possible.
"""

import sys

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

_DECIDE_LASSO = """# The goal must be missing on the whole cycle, and the cycle must close.
cycle = states[{loop}:]
good = cycle[0] != cycle[-1] or any(interpreter.evaluate(prop.expr, one, **{binding}) for one in cycle)"""

_BY_CHOICES = '''"""{title}

Run from the root of the repository:  PYTHONPATH=. .venv/bin/python {file}
"""

import sys

from tidemark.checks.cli.app import run

sys.exit(run(["replay", {token!r}]))
'''


def reproducer(trace: Counterexample, *, title: str, name: str, property_id: str, file: str) -> str | None:
    """The program's text, or None if the trace says neither instance nor replay token."""
    if trace.token:
        return _BY_CHOICES.format(title=title, file=file, token=trace.token)
    model = trace.model
    if model is None:
        return None
    decide = _DECIDE_STATES
    if trace.shape is Shape.LASSO:
        decide = _DECIDE_LASSO.format(loop=trace.loop_start, binding=trace.binding)
    steps = "\n".join(f"    Step({step.action!r}, {tuple(step.args.values())!r})," for step in trace.steps)
    return _INTERPRETED.format(
        title=title,
        file=file,
        protocol=model.protocol,
        bounds=model.bounds,
        constants=model.constants,
        name=name,
        initial=tuple(trace.initial.values()),
        steps=steps,
        property_id=property_id,
        decide=decide,
    )
