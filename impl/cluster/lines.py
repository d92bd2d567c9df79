"""The log of a cluster in Milvus' own text form: one line for each record of the roles' loggers.

Source of the form: the zap text encoder of Milvus. Messages and names of fields are those of Milvus (source
001, and lines of 2.2 to 2.3); what stands for its source file is ours, below ``impl/``.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from logging import FileHandler, Formatter, Handler, LogRecord
from pathlib import Path
from typing import Any

from tidemark.impl.logs import DEBUG, ROLES
from tidemark.impl.system.clocks import SystemWallClock
from tidemark.impl.timestamp import NANOSECONDS
from tidemark.impl.tso.ports import WallClock
from tidemark.impl.types import EndPosition, SegmentRecord
from tidemark.impl.values.messages import is_level_zero

_TIMES = ("last", "save", "next")
"""Fields in nanoseconds of the wall clock, written as times."""
_LEVELS = {"WARNING": "WARN"}
_TO_QUOTE = re.compile(r'[\s\\"\[\]=]')


class MilvusForm(Formatter):
    """``[time] [LEVEL] [role/file.py:line] [message] [name=value] ...``. ``wall``: gives the time."""

    def __init__(self, wall: WallClock | None = None) -> None:
        super().__init__()
        self._wall = wall if wall is not None else SystemWallClock()

    def format(self, record: LogRecord) -> str:
        """One line."""
        level = _LEVELS.get(record.levelname, record.levelname)
        place = f"{'/'.join(Path(record.pathname).parts[-2:])}:{record.lineno}"
        head = f"[{_time(self._wall.now())}] [{level}] [{place}] [{_quoted(str(record.msg))}]"
        given: Mapping[str, Any] = vars(record).get("fields", {})
        return " ".join([head, *(f"[{_quoted(name)}={_field(name, given[name])}]" for name in given)])


def _time(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds // NANOSECONDS, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y/%m/%d %H:%M:%S}.{rest:03d} +00:00"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if not text or _TO_QUOTE.search(text) else text


def _field(name: str, value: Any) -> str:
    return _time(value) if name in _TIMES else _quoted(_text(value))


def _text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return f"[{','.join(map(_text, value))}]"
        case EndPosition():
            return f"timestamp:{value.ts}"
        case SegmentRecord():
            return _checkpoint(value)
    return str(value)


def _checkpoint(record: SegmentRecord) -> str:
    """What a save says of its segment. Deletes are no rows."""
    rows = 0 if is_level_zero(record.segment_id) else sum(len(one.row_positions) for one in record.binlogs)
    position = {"channel_name": record.channel, "timestamp": record.dml_position.ts}
    return json.dumps({"segmentID": record.segment_id, "position": position, "num_of_rows": rows})


@contextmanager
def heard_by(*handlers: Handler) -> Iterator[None]:
    """Let handlers have the lines of all roles, at every level."""
    before = ROLES.level
    ROLES.setLevel(DEBUG)
    for handler in handlers:
        ROLES.addHandler(handler)
    try:
        yield
    finally:
        ROLES.setLevel(before)
        for handler in handlers:
            ROLES.removeHandler(handler)
            handler.close()


def lines_into(file: Path) -> Handler:
    """Appends lines to a file, one write a line. Raises OSError."""
    handler = FileHandler(file, encoding="utf-8")
    handler.setFormatter(MilvusForm())
    return handler
