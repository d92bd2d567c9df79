"""What is wrong with a built site: links that lead nowhere, and what a browser would fetch elsewhere."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {("script", "src"), ("img", "src"), ("iframe", "src")}


class _Page(HTMLParser):
    """The targets and the anchors of a page; ``fetched`` are what a browser loads with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors = {"", "__skip"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the base class."""
        said = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := said.get(name))}
        loads = tag == "link" and said.get("rel") not in ("canonical", "next", "prev")
        for name, value in attrs:
            if (tag, name) in _FETCHED or (name == "href" and loads):
                self.fetched.append(value or "")
            elif name == "href":
                self.links.append(value or "")


def problems(site: Path) -> Iterator[str]:
    """One line for each. Errors: ValueError, if there is no page at all."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    if not pages:
        raise ValueError(f"{site} has no page")
    for path, page in pages.items():
        where = path.relative_to(site).as_posix()
        for target in (*page.fetched, *page.links):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.fetched:
                    yield f"{where} loads {target}"
                continue
            found = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            found = found / "index.html" if found.is_dir() else found
            if not found.is_file() and where != "404.html":
                yield f"{where} links to {target}, which is not there"
            elif found in pages and unquote(parts.fragment) not in pages[found].anchors:
                yield f"{where} links to {target}: no such place in that page"
