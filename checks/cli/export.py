"""An instance in the language of another tool, or its states, or a run of it: ``tidemark export``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from tidemark.checks.cli.manifests import loaded
from tidemark.checks.report.forms.itf import to_itf
from tidemark.checks.report.graph import dot, longest_run
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.exports.promela import to_promela
from tidemark.models.exports.tla import to_tla
from tidemark.models.instance import Bound, Instance
from tidemark.models.manifest import InstanceEntry, Manifest, instance_of
from tidemark.models.manifest.about import about


class Form(StrEnum):
    """What an instance can be written as."""

    TLA = "tla"
    PROMELA = "promela"
    ITF = "itf"
    DOT = "dot"


def chosen_instance(
    name: str,
    *,
    bounds: Sequence[str] = (),
    constants: Sequence[str] = (),
    manifests: Sequence[Path] = (),
    say: Callable[[str], None] = lambda _text: None,
) -> Instance:
    """The manifest instance of that name, or the protocol ``module:Class`` with these bounds and constants.

    ``say`` is told which manifest has the instance.
    Raises BadInputError for an unknown name, or for a bound or a constant that cannot be read.
    """
    if ":" in name:
        short = name.rpartition(":")[2].lower()
        return Instance(name, dict(map(_bound, bounds)), dict(map(_constant, constants)), name=short)
    # Not compared with the specifications: that is the gate's business, and takes seconds.
    entries: dict[str, tuple[Manifest, InstanceEntry]] = {
        entry.name: (manifest, entry) for manifest in loaded(manifests) for entry in manifest.instance
    }
    if name not in entries:
        raise BadInputError(
            f"there is no instance {name!r}", remedy=known_names(name, entries, lists="tidemark show")
        )
    manifest, entry = entries[name]
    if bounds or constants:
        raise BadInputError(
            f"bounds and constants are given for the manifest instance {name!r}, which has its own",
            remedy=f"name its protocol instead:  tidemark export {entry.protocol} ...",
        )
    say(about([(manifest, name)]))
    return instance_of(entry)


def _bound(text: str) -> tuple[str, Bound]:
    name, _, value = text.partition("=")
    low, dots, high = value.partition("..")
    try:
        return name, (int(low), int(high)) if dots else int(low)
    except ValueError as error:
        raise BadInputError(f"the bound {text!r}", remedy="write TYPE=N or TYPE=LOW..HIGH") from error


def _constant(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError as error:
        raise BadInputError(
            f"the constant {text!r} has no value in JSON",
            remedy="write NAME=VALUE, for example  --constant 'carries=[false, true]'",
        ) from error


def export(instance: Instance, *, form: Form, out: Path | None, limit: int) -> int:
    """Write the files into ``out``, or their text to standard output. Raises BadInputError, BadInstance."""
    files = _files(instance, form, limit)
    if out is None:
        sys.stdout.write("\n".join(text for text in files.values() if text))
        return ExitCode.AS_EXPECTED.value
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        if text:
            (out / name).write_text(text, encoding="utf-8")
            print((out / name).as_posix())
    return ExitCode.AS_EXPECTED.value


def _files(instance: Instance, form: Form, limit: int) -> dict[str, str]:
    name = instance.name
    match form:
        case Form.TLA:
            module = to_tla(instance)
            return {
                f"{module.name}.tla": module.text,
                f"{name}.cfg": module.safety,
                f"{name}-live.cfg": module.liveness,
            }
        case Form.PROMELA:
            return {f"{name}.pml": to_promela(instance)}
        case Form.DOT:
            return {f"{name}.dot": dot(instance, limit=limit)}
        case Form.ITF:
            run = longest_run(instance, limit=limit)
            return {f"{name}.itf.json": to_itf(run, description=f"a run of {name}")}
