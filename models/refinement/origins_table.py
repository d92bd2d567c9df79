"""The tables ``ORIGINS`` of all mappings, found and printed. Apart from ``origins``: a mapping that imported
this would depend on the files of all protocols, and its verdicts with it.
"""

from __future__ import annotations

import importlib

from tidemark.models.refinement.origins import Origin, Origins
from tidemark.models.rooms import PACKAGE, ROOT, protocol_files

FILES = "*refinement.py"
_NAME = "ORIGINS"


def all_origins() -> dict[str, Origins]:
    """The tables of all mappings that have one, by folder; a further one of a folder by its file too."""
    found = {}
    for path in protocol_files(FILES):
        module = importlib.import_module(".".join((PACKAGE, *path.relative_to(ROOT).with_suffix("").parts)))
        table = getattr(module, _NAME, None)
        if isinstance(table, Origins):
            name = path.parent.name
            found[name if path.stem == "refinement" else f"{name}/{path.stem}"] = table
    return found


def origins_text(tables: dict[str, Origins], *, only_adapters: bool = False) -> str:
    """The tables as text. ``only_adapters``: what is not wholly read from the implementation."""
    lines = []
    for name, table in tables.items():
        rows = [row for row in table.rows if row.why or not only_adapters]
        lines += [name, *(f"  {_line(row)}" for row in rows), ""]
    count = [name for table in tables.values() for name in table.variables()]
    kinds = {
        kind: sum(len(row.variables) for table in tables.values() for row in table.rows if row.kind == kind)
        for kind in ("read", "in part", "environment")
    }
    lines.append(
        f"{len(count)} variables of {len(tables)} mappings: {kinds['read']} are read from the implementation,"
        f" {kinds['in part']} in part, {kinds['environment']} are environment or noted by adapters"
    )
    return "\n".join(lines)


def _line(row: Origin) -> str:
    fields = ", ".join(f"{owner.__name__}.{name}" for owner, name in row.fields)
    words = "; ".join(word for word in (fields, row.why) if word)
    return f"{', '.join(row.variables)} ({row.kind}): {words}"
