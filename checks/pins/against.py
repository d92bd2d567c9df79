"""What manifests said at another revision: their protocols are taken from git and traced again."""

import io
import json
import os
import pickle
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tidemark.checks.pins import traced
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.manifest import Pin
from tidemark.models.pins.items import Said
from tidemark.models.rooms import ROOMS, ROOT
from tidemark.spec.language.spec import Property


def said_at(revision: str, manifests: Sequence[Path]) -> dict[Path, dict[str, Said]]:
    """What each manifest's protocol, variants and readings said at a revision of git.

    Of a manifest that did not exist it is nothing. Raises BadInputError if the revision cannot be exported or
    traced.
    """
    found: dict[Path, dict[str, Said]] = {}
    for top in dict.fromkeys(map(_top, manifests)):
        own = [path for path in manifests if _top(path) == top]
        with TemporaryDirectory(prefix="tidemark-against-") as folder:
            then = Path(folder)
            _export(top, revision, then)
            found |= zip(own, _trace(top, revision, then, own), strict=True)
    return found


def _top(manifest: Path) -> Path:
    return Path(_git(manifest.resolve().parent, "rev-parse", "--show-toplevel").decode().strip())


def _export(top: Path, revision: str, folder: Path) -> None:
    archive = _git(top, "archive", "--format=tar", "--end-of-options", revision)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")


def _git(folder: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    except OSError as error:
        raise BadInputError(f"git cannot be run ({error.strerror})", remedy="install git") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
        raise BadInputError(
            f"git {words[0]} in {folder}: {said[-1]}",
            remedy="name a revision of the repository of the manifest",
        )
    return done.stdout


def _trace(top: Path, revision: str, then: Path, manifests: Sequence[Path]) -> list[dict[str, Said]]:
    """Runs the tracer in a process of its own, which imports the modules of the export."""
    places = [then / path.resolve().relative_to(top) for path in manifests]
    done = subprocess.run(
        [sys.executable, "-P", "-B", traced.__file__, *map(str, places)],
        capture_output=True,
        check=False,
        text=True,
        cwd=then,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(_search_path(top, then))},
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise BadInputError(
            f"the protocols of {revision} cannot be traced: {said[-1]}", remedy="name a later revision"
        )
    return [
        {
            name: Said(Pin(digest=digest, wording=wording, id=name), text, _claim(tree))
            for name, digest, wording, text, tree in one
        }
        for one in json.loads(done.stdout)
    ]


def _claim(tree: str | None) -> Property | None:
    """A claim of the other revision; None if its form is not the present one."""
    try:
        claim = pickle.loads(bytes.fromhex(tree or ""))  # noqa: S301  the code of the revision has just been run
    except Exception:  # noqa: BLE001  another form may fail in any way
        return None
    return claim if isinstance(claim, Property) else None


def _search_path(top: Path, then: Path) -> list[str]:
    """The folders of ``PYTHONPATH``, those of the repository as exported; and this package, if it is the
    repository.
    """
    known = [Path(one) for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    moved = [then / one.relative_to(top) if one.is_relative_to(top) else one for one in known]
    if top == ROOT:
        package = then / ".package" / "tidemark"
        package.mkdir(parents=True)
        for room in ROOMS:
            (package / room).symlink_to(then / room)
        moved = [package.parent, *moved]
    return list(map(str, moved))
