"""What collectors put before a log line: does it name who wrote the line?

Docker compose, kubectl and stern name a container, ``grep -H`` a file, journald a unit and its process.
Times, line numbers and the names of output streams differ from line to line of one writer, and name nobody.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NOBODY = re.compile(
    r"\x1b\[[0-9;]*m"
    r"|\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d| UTC)?"
    r"|\b[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b\d{10,19}\b"
    r"|\b(?:stdout|stderr) [FP]\b"
    r"|(?<![\w-])\d+[:\s]+$|[:-]\d+[:-]$"
)
"""Times, colours, output streams, and the number of a line at the end."""
_LONGEST = 160


@lru_cache(maxsize=4096)
def writer(prefix: bytes) -> str:
    """Who wrote a line that begins with this prefix; empty if the prefix does not say."""
    if prefix.lstrip().startswith((b'{"', b"{'")):
        return ""  # the names of a JSON object, not of a writer
    name = _NOBODY.sub("", prefix.decode("utf-8", "replace")).strip(" \t|:,;\"'")
    return name.strip("[]")[:_LONGEST] if any(letter.isalnum() for letter in name) else ""


def stream(source: str, who: str) -> str:
    """The lines of one writer in a file."""
    return f"{source} ({who})" if who else source


def in_file(source: str, file: str) -> bool:
    """Is this a stream of the file?"""
    return source == file or source.startswith(f"{file} (")
