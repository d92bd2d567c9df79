"""What a project says about itself: the table ``[tool.tidemark]`` of its ``pyproject.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tidemark.models.manifest.errors import ManifestError
from tidemark.models.manifest.folders import ROOT_FILE
from tidemark.models.manifest.load import manifest_files


class Project(BaseModel):
    """The table. Its paths and patterns begin in the folder of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    manifests: tuple[str, ...] = ()
    """Manifest files, or patterns such as ``specs/*.toml``: what is judged if no ``--manifest`` is given."""


def default_manifests() -> tuple[Path, ...]:
    """The manifests of the project in which this process works; else those of the repository.

    Raises ManifestError if the table is wrong, or a path in it leads to nothing.
    """
    return project_manifests(Path.cwd()) or manifest_files()


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
    found = sorted(folder.glob(pattern))
    if not found:
        raise ManifestError(
            f"tool.tidemark.manifests: no file matches {pattern!r}",
            file=ROOT_FILE,
            remedy=f"correct it; it begins in the folder of {ROOT_FILE}",
        )
    return found
