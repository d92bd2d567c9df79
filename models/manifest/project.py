"""Which manifests are meant: those that are given, else those that the project names in ``[tool.tidemark]``.

There is no third choice: a command that is asked about ``small`` in a folder without a manifest must not
answer about another protocol that has an entry of this name.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from tidemark.models.manifest.errors import ManifestError
from tidemark.models.manifest.folders import ROOT_FILE
from tidemark.models.manifest.load import manifest_files
from tidemark.models.manifest.strict import Strict
from tidemark.models.rooms import INSTALL_PROTOCOLS, ROOT

SUITE = Path("suite")
"""Given in place of a file: the manifests of the suite's own protocols."""


class Project(Strict):
    """The table ``[tool.tidemark]``. Its paths and patterns begin in the folder of the file."""

    manifests: tuple[str, ...] = ()
    """Manifest files, or patterns such as ``specs/*.toml``: what is judged if no ``--manifest`` is given."""


_OF_A_COPY = Path("spec", "language", "protocol.py")
"""What every copy of Tidemark has, a clone or an installed package."""


def chosen_manifests(given: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The given manifest files, else those of the project in which this process works; each once. Raises
    ManifestError if there is none, or the project's table is wrong.
    """
    if SUITE in given and not manifest_files():
        raise ManifestError("the protocols of Milvus are not installed", file=SUITE, remedy=INSTALL_PROTOCOLS)
    files = [path for one in given for path in (manifest_files() if one == SUITE else (one,))]
    found = files or project_manifests(Path.cwd())
    if not found:
        raise ManifestError(
            "no manifest is found: none is given, and no pyproject.toml here or above names one",
            file=Path.cwd(),
            remedy="give it with  --manifest FILE , or write to pyproject.toml  [tool.tidemark]  "
            'manifests = ["specs/*.toml"] ;  tidemark init  writes a first one'
            + f";  --manifest {SUITE}  judges Tidemark's own protocols"
            * bool(manifest_files()),
        )
    chosen = {path.resolve(): path for path in reversed(found)}
    for path in chosen:
        copy = next((one for one in path.parents if (one / _OF_A_COPY).is_file()), ROOT)
        if copy != ROOT:
            raise ManifestError(
                f"it belongs to another copy of Tidemark; protocols and code would be read from {ROOT}",
                file=path,
                remedy=f"run  make verify  in {copy}, or {copy}/.venv/bin/tidemark",
            )
    return tuple(chosen.values())[::-1]


def project_manifests(folder: Path) -> tuple[Path, ...]:
    """The manifests of the project to which a folder belongs; none if it says nothing."""
    file = next(
        (place / ROOT_FILE for place in (folder, *folder.parents) if (place / ROOT_FILE).is_file()), None
    )
    if file is None:
        return ()
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("tidemark")
        project = Project.model_validate(table or {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ManifestError(f"cannot be read: {error}", file=ROOT_FILE, remedy="correct it") from error
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, ("tool", "tidemark", *problem["loc"])))
        raise ManifestError(
            f"{place}: {problem['msg']}", file=ROOT_FILE, remedy='write  manifests = ["specs/*.toml"]'
        ) from error
    return tuple(path for pattern in project.manifests for path in _matching(file.parent, pattern))


def _matching(folder: Path, pattern: str) -> list[Path]:
    try:
        found = sorted(folder.glob(pattern))
    except (NotImplementedError, ValueError):  # an absolute path, an empty pattern
        found = []
    if not found:
        raise ManifestError(
            f"tool.tidemark.manifests: no file matches {pattern!r}",
            file=ROOT_FILE,
            remedy=f"correct it; it begins in the folder of {ROOT_FILE}",
        )
    return found
