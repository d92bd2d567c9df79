"""An instance in the language of another tool, or its states, or a run of it: ``tidemark export``."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tidemark.checks.cli.options import Bounds, Constants, ManifestOption
from tidemark.checks.inputs.manifests import chosen_instance
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.instance import Instance


class Form(StrEnum):
    """What an instance can be written as."""

    TLA = "tla"
    PROMELA = "promela"
    ITF = "itf"
    DOT = "dot"


def export(
    instance: Annotated[str, typer.Argument(help="Name of a manifest instance, or a protocol MODULE:CLASS.")],
    *,
    to: Annotated[
        Form,
        typer.Option(help="tla, promela: the protocol; dot: the state graph; itf: a run to a deepest state."),
    ],
    bound: Bounds = None,
    constant: Constants = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files; by default standard output.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Greatest number of states (dot, itf).")] = 2_000,
    manifest: ManifestOption = None,
) -> int:
    """Write an instance for another tool, its states, or a run."""
    chosen = chosen_instance(
        instance,
        bounds=bound or (),
        constants=constant or (),
        manifests=manifest or (),
        say=lambda text: print(text, file=sys.stderr if out is None else sys.stdout),
    )
    files = _files(chosen, to, limit)
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
    from tidemark.checks.report.forms.itf import to_itf
    from tidemark.checks.report.graph import dot, longest_run
    from tidemark.models.exports.promela import to_promela
    from tidemark.models.exports.tla import to_tla

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
