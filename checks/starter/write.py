"""``tidemark init``: the files of a first protocol. They pass as they are."""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tidemark.checks.verdicts.commands import BUILD
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.manifest.project import project_manifests

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_WORKFLOW = Path(".github") / "workflows" / "tidemark.yml"


def begin(folder: Path, *, name: str, workflow: bool) -> int:
    """Write the files into a folder, and say how to go on; the exit status.

    Raises BadInputError if the name cannot be one of a Python module, or if a file is there already.
    """
    if not _NAME.fullmatch(name):
        raise BadInputError(
            f"the name {name!r} is not a word of small letters, digits and _", remedy="for example  lease"
        )
    files = texts(name)
    if workflow:
        files[_WORKFLOW] = _text("workflow", manifest=f"{name}.toml")
    there = [path for path in files if (folder / path).exists()]
    if there:
        raise BadInputError(
            f"{there[0].as_posix()} exists already", remedy="choose another --name, or folder"
        )
    if not (folder / ".gitignore").exists():
        files[Path(".gitignore")] = f"{BUILD}/\n"
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
        print(f"wrote {(folder / path).as_posix()}")
    print(f"judge it:  tidemark verify --manifest {(folder / name).as_posix()}.toml")
    if not project_manifests(folder.resolve()):
        print(
            f'to leave the option out, add to pyproject.toml:  [tool.tidemark]  manifests = ["{name}.toml"]'
        )
    return ExitCode.AS_EXPECTED.value


def texts(name: str) -> dict[Path, str]:
    """The protocol, its manifest and its test, by file name."""
    cls = "".join(part.capitalize() for part in name.split("_"))
    words = {
        "name": name,
        "cls": cls,
        "family": cls.lower(),
        "title": name.replace("_", " ").capitalize(),
        "test": f"test_{name}.py",
    }
    return {
        Path(f"{name}.py"): _text("protocol", **words),
        Path(f"{name}.toml"): _text("manifest", **words),
        Path(f"test_{name}.py"): _text("test", **words),
    }


def _text(template: str, **words: str) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  Python and TOML, no HTML
    )
    return environment.get_template(f"{template}.j2").render(**words)
