"""The bundle of a refuted verdict: the counterexample in every form, in one folder.

``verdict.txt`` (one line), ``trace.txt`` (changed fields), ``trace.itf.json``, ``sequence.mmd`` (Mermaid),
``reproduce.py`` and ``replay.txt`` (the command).

The bundles of a run. One that an earlier run has written of the same verdict, and that is unchanged since
since, is not written again: a run in which nothing has changed would mostly write hundreds of them.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tidemark.checks.report.forms.diagram import mermaid
from tidemark.checks.report.forms.itf import to_itf
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.verdicts.counterexample import Counterexample, Shape
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.sealed import DamagedError, ForeignError, read_sealed, write_sealed
from tidemark.checks.verdicts.verdict import Aspect, Outcome, Subject, Verdict

INDEX = ".written.json"
"""What lies in each bundle, and of what it was made; beside the bundles."""
FORMAT = 1

Entry = tuple[str, dict[str, list[int]]]
"""Digest of what a bundle was made of; of each of its files size and time of writing."""


def write_bundles(result: RunResult, *, build: Path, forms: str = "") -> None:
    """Write the bundles of all verdicts with a counterexample, and remove all others.

    ``forms``: digest of the code that writes them; empty to write every one.
    """
    folder = build / FOLDER
    shown = [one.verdict for one in result.judgements if one.verdict.counterexample is not None]
    remove_others({bundle_id(verdict) for verdict in shown}, build=build)
    before = _read(folder / INDEX) if forms else {}
    now: dict[str, Entry] = {}
    for verdict in shown:
        name, sources = bundle_id(verdict), result.source_lines(verdict.subject)
        # Of all that the texts of a bundle are made of; a reproducer names its own place.
        parts = (verdict.model_dump_json(), json.dumps(sources), forms, str(folder.absolute()))
        made_of = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        known = before.get(name)
        if known is not None and known[0] == made_of and known[1] == _files(folder / name):
            now[name] = known
            continue
        write_bundle(verdict, build=build, sources=sources)
        now[name] = (made_of, _files(folder / name))
    if forms and shown and now != before:
        with suppress(OSError):
            write_sealed(folder / INDEX, json.dumps(now, sort_keys=True), version=FORMAT)


def _files(folder: Path) -> dict[str, list[int]]:
    """Size and time of writing of each file; empty if there is none."""
    found = {}
    with suppress(OSError):
        for path in folder.iterdir():
            status = path.stat()
            found[path.name] = [status.st_size, status.st_mtime_ns]
    return found


def _read(path: Path) -> Mapping[str, Entry]:
    try:
        body = read_sealed(path, version=FORMAT)
        found = json.loads(body) if body is not None else {}
        return {name: (made_of, files) for name, (made_of, files) in found.items()}
    except (DamagedError, ForeignError, ValueError, TypeError, AttributeError):
        return {}


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
    """The program's text, or None if the trace says neither instance nor replay token."""
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


FOLDER = "counterexamples"
_MARKER = "verdict.txt"
"""The file that every bundle has."""


def bundle_id(verdict: Verdict) -> str:
    """A folder name that is the same in every run."""
    subject = verdict.subject
    text = f"{subject.judge}-{subject.instance}-{subject.property_id}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")


def headline(verdict: Verdict) -> str:
    """The verdict in one line."""
    subject = verdict.subject
    within = f" within {verdict.bounds}" if verdict.bounds else ""
    if subject.aspect is Aspect.MUTANT and verdict.outcome is Outcome.HOLDS:
        return _survivor(subject) + within
    reason = f": {verdict.reason}" if verdict.reason else ""
    who = f"by {subject.judge} on {subject.instance}"
    return f"{subject.property_id} is {verdict.outcome.value} {who}{within}{reason}"


def _survivor(subject: Subject) -> str:
    """A generated mutant is the property of its verdict; a named one is the entry, and its killer the
    property.
    """
    if "/" in subject.property_id:
        return f"mutant {subject.property_id} survived on {subject.instance}"
    return f"mutant {subject.instance} survived: {subject.property_id} does not refute it"


def remove_others(present: Collection[str], *, build: Path) -> None:
    """Remove the bundles of earlier runs: what is no longer refuted must not look as if it were."""
    for marker in (build / FOLDER).glob(f"*/{_MARKER}"):
        if marker.parent.name not in present:
            shutil.rmtree(marker.parent)


def write_bundle(verdict: Verdict, *, build: Path, sources: Sequence[str] = ()) -> Path | None:
    """Write the bundle below ``build`` and return its folder; None if the verdict has no counterexample.

    ``sources``: lines that say where the property comes from.
    """
    trace = verdict.counterexample
    if trace is None:
        return None
    folder = build / FOLDER / bundle_id(verdict)
    folder.mkdir(parents=True, exist_ok=True)
    title = headline(verdict)
    program = reproducer(
        trace,
        title=title,
        name=verdict.subject.instance,
        property_id=verdict.subject.property_id,
        file=folder.absolute() / "reproduce.py",
        replay=verdict.replay,
    )
    files = {
        _MARKER: title + "\n",
        "trace.txt": trace_text(trace, limit=10_000, sources=sources) + "\n",
        "trace.itf.json": to_itf(trace, description=title),
        "sequence.mmd": mermaid(trace),
        "replay.txt": verdict.replay + "\n",
    }
    if program is not None:
        files["reproduce.py"] = program
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
