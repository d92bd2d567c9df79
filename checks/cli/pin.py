"""``tidemark pin``: write what the protocols say to the files of pins, and show what changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tidemark.checks.cli.options import ManifestOption
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.manifest import Manifest, load, manifest_files, pins_file
from tidemark.models.manifest.pins import read_pins
from tidemark.models.pins.compare import differences
from tidemark.models.pins.items import pins_of
from tidemark.models.pins.write import write_pins


def pin(
    protocols: Annotated[
        list[str] | None, typer.Argument(help="Names of manifests, for example tso; by default all.")
    ] = None,
    *,
    manifest: ManifestOption = None,
) -> int:
    """Write the pins: what each claim and each step says. Shows every change, for the review."""
    for path, content in _chosen(protocols or (), manifest or manifest_files()):
        _pin(path, content)
    return ExitCode.AS_EXPECTED.value


def _chosen(names: Sequence[str], paths: Sequence[Path]) -> list[tuple[Path, Manifest]]:
    found = [(path, load(path)) for path in paths]
    known = {content.name for _, content in found}
    for name in names:
        if name not in known:
            raise BadInputError(f"there is no protocol {name!r}", remedy=known_names(name, known))
    return [(path, content) for path, content in found if not names or content.name in names]


def _pin(manifest: Path, content: Manifest) -> None:
    file = pins_file(manifest)
    old = {one.id: one for one in read_pins(file)}
    new = pins_of(content.protocol, content.variants(), content.readings())
    changed = differences(old, new)
    for one in changed:
        print(f"{content.name}: {one.headline}")
        for line in one.lines():
            print(f"    {line}")
    if changed or not file.exists():
        try:
            write_pins(file, content.name, new.values())
        except OSError as error:
            remedy = "make its folder writable"
            raise BadInputError(f"{file} cannot be written ({error.strerror})", remedy=remedy) from error
    same = len(new) - sum(one.id in new for one in changed)
    print(f"{content.name}: {len(changed)} changed, {same} as before, in {file}")
    if not any(entry.compares(content.protocol) for entry in content.pins):
        print(
            f"note: nothing compares them yet; add to {manifest}:\n\n"
            f'[[pins]]\nname = "{content.name}-pins"\nexpect = {{ every = "holds" }}\n'
        )
