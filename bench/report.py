"""The result as a table on the console, as JSON and as Markdown."""

import json
import math
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from tidemark.bench.series import Row, Status


def machine() -> dict[str, Any]:
    """Cores, memory, processor, system, Python. Numbers of different machines must not be compared."""
    return {
        "cores": os.cpu_count() or 1,
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123  a file of the kernel, not of a tree
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or "unknown"


def load() -> float:
    """Processes that wanted a core in the last minute, on average; 0 where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


SCHEMA = 1
_STYLES = {
    Status.MET: "green",
    Status.NOT_MET: "yellow",
    Status.DIFFERENT: "bold red",
    Status.BROKEN: "bold red",
    Status.NOT_MEASURED: "dim",
    Status.NOT_JUDGED: "dim",
    Status.NO_GOAL: "",
}
_HEADINGS = ("what", "median", "spread", "ratio", "goal", "result", "memory")


@dataclass(frozen=True, kw_only=True)
class Result:
    """A whole run. ``load`` is the machine's load before and after it."""

    rows: tuple[Row, ...]
    machine: dict[str, Any]
    load: tuple[float, float]
    repeat: int
    quick: bool
    stopped: bool
    """Was it stopped by the user? Then lines are missing."""
    seconds: float
    revision: str


def cells(row: Row) -> tuple[str, ...]:
    """A line as text, without measure and size."""
    if not row.samples:
        return (row.what, "", "", "", str(row.goal or ""), _verdict(row), "")
    return (
        row.what,
        f"{number(row.median)} {row.unit}".strip(),
        f"{row.spread:.0%}" if row.spread is not None else "",
        f"{number(row.ratio)} x {row.against}" if row.ratio is not None else "",
        str(row.goal or ""),
        _verdict(row),
        f"{row.peak_bytes / 2**20:,.0f} MiB" if row.peak_bytes else "",
    )


def _verdict(row: Row) -> str:
    if row.status is Status.NO_GOAL:
        return ""
    return f"{row.status.value}: {row.reason}" if row.reason else row.status.value


def number(value: float | None) -> str:
    """Three digits are all that a measured time is worth; counts are exact."""
    if value is None or math.isnan(value):
        return "?"
    if float(value).is_integer() and abs(value) < 1e7:
        return f"{value:,.0f}"
    if abs(value) >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def groups(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Lines of one measure at one size, in order."""
    for (measure, size), found in groupby(rows, key=lambda row: (row.measure, row.size)):
        yield f"{measure}: {size}" if size else measure, list(found)


def show(result: Result, console: Console) -> None:
    """Print the table and what it rests on."""
    table = Table(title="Measured in one run", show_lines=False)
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading in ("what", "goal", "result") else "right")
    for title, rows in groups(result.rows):
        table.add_section()
        table.add_row(f"[bold]{title}[/bold]")
        for row in rows:
            table.add_row(*cells(row), style=_STYLES[row.status])
    console.print(table)
    console.print(summary(result), highlight=False)


def summary(result: Result) -> str:
    """One paragraph: how many goals are met, on which machine, how often repeated."""
    found = [row.status for row in result.rows]
    counted = ", ".join(
        f"{found.count(status)} {status.value}"
        for status in Status
        if status is not Status.NO_GOAL and found.count(status)
    )
    machine = result.machine
    return (
        f"Goals: {counted or 'none'}. Medians of {result.repeat}; spread is greatest less least. "
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, Python {machine['python']}; "
        f"load {result.load[0]:.1f} before, {result.load[1]:.1f} after; {result.seconds:,.0f} s in all."
        + (" A quick run: small sizes, no goal judged." if result.quick else "")
        + (" It was stopped: lines are missing." if result.stopped else "")
    )


def as_json(result: Result) -> str:
    """The whole result; NaN becomes null."""
    lines = [{**asdict(row), **_derived(row)} for row in result.rows]
    return json.dumps(
        _plain({"schema": SCHEMA, **asdict(result), "rows": lines}),
        indent=1,
        allow_nan=False,
        ensure_ascii=False,
    )


def _derived(row: Row) -> dict[str, Any]:
    return {
        "median": row.median,
        "spread": row.spread,
        "ratio": row.ratio,
        "goal": str(row.goal) if row.goal is not None else None,
        "status": row.status.value,
        "met": row.status is Status.MET if row.goal is not None else None,
    }


def _plain(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: _plain(part) for key, part in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(part) for part in data]
    return data


def as_markdown(result: Result) -> str:
    """The table for a document."""
    lines = []
    for title, rows in groups(result.rows):
        lines += [f"**{title}**", "", "| " + " | ".join(_HEADINGS) + " |"]
        lines.append("| --- | ---: | ---: | ---: | --- | --- | ---: |")
        lines += ["| " + " | ".join(cell.replace("|", "/") for cell in cells(row)) + " |" for row in rows]
        lines.append("")
    return "\n".join([*lines, summary(result), ""])


def write(result: Result, folder: Path) -> tuple[Path, Path]:
    """Write ``bench.json`` and ``bench.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "bench.json", folder / "bench.md"
    for path, text in zip(paths, (as_json(result), as_markdown(result)), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths
