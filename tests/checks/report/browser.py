"""A headless Chromium, for tests of the page as a reader sees it."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import zlib
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ABSENT = "there is no Chromium on the PATH: make browser, or apt-get install chromium"
_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=3000",
)


def find_browser() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Look(NamedTuple):
    """How the page is looked at: a window in pixels, and whether the reader prefers dark colours."""

    width: int
    height: int
    dark: bool = False


def _call(page: Path, look: Look, *options: str) -> str:
    program = find_browser()
    assert program is not None, ABSENT
    scheme = 0 if look.dark else 1
    command = [
        program,
        *_QUIET,
        f"--user-data-dir={page.parent / 'profile'}",
        f"--window-size={look.width},{look.height}",
        f"--blink-settings=preferredColorScheme={scheme}",
        *options,
        page.absolute().as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask(page: Path, look: Look, script: str) -> Any:
    """What a script finds out in the page: it ends with ``return`` and a value that JSON can hold."""
    asking = page.with_name(f"asking-{page.name}")
    text = page.read_text(encoding="utf-8")
    at = text.rindex("</body>")
    probe = (
        f"<script>const answer = (() => {{ {script} }})(); const out = document.createElement('pre');"
        "out.id = 'answer'; out.textContent = JSON.stringify(answer); document.body.append(out);</script>"
    )
    asking.write_text(text[:at] + probe + text[at:], encoding="utf-8")
    found = re.search(r'<pre id="answer">(.*?)</pre>', _call(asking, look, "--dump-dom"), re.DOTALL)
    assert found is not None, "the script failed"
    return json.loads(unescape(found[1]))


def screenshot(page: Path, look: Look) -> Picture:
    file = page.with_name("screen.png")
    _call(page, look, f"--screenshot={file}")
    return Picture(file.read_bytes())


class Picture:
    """A PNG with eight bits a channel, decoded."""

    def __init__(self, data: bytes) -> None:
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, packed = 8, b""
        while at < len(data):
            (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
            body = data[at + 8 : at + 8 + length]
            if kind == b"IHDR":
                self.width, self.height, depth, colour = struct.unpack(">IIBB", body[:10])
                assert depth == 8
                self._channels = {2: 3, 6: 4}[colour]
            packed += body if kind == b"IDAT" else b""
            at += 12 + length
        self.rows = list(self._rows(zlib.decompress(packed)))

    def _rows(self, raw: bytes) -> Any:
        """PNG, section 9: each row is told by its difference from its neighbours."""
        size, step = self.width * self._channels, self._channels
        before = bytes(size)
        for number in range(self.height):
            start = number * (size + 1)
            kind, row = raw[start], bytearray(raw[start + 1 : start + 1 + size])
            for i in range(size if kind else 0):
                left, corner = (row[i - step], before[i - step]) if i >= step else (0, 0)
                row[i] = (row[i] + _predicted(kind, left, before[i], corner)) & 255
            before = bytes(row)
            yield before

    def light(self) -> list[float]:
        """For each 16th pixel of each 16th row its lightness from 0 to 1."""
        step = self._channels
        return [
            sum(row[i : i + 3]) / 765 for row in self.rows[::16] for i in range(0, len(row) - step, 16 * step)
        ]


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        guess = left + up - corner
        near = min((abs(guess - left), 0), (abs(guess - up), 1), (abs(guess - corner), 2))[1]
        return (left, up, corner)[near]
    return (0, left, up, (left + up) // 2)[kind]
