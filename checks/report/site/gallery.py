"""The findings about one protocol as a page, with the runs that show them, as pictures."""

from collections.abc import Iterator, Mapping

from tidemark.checks.report.findings import Book, linked
from tidemark.checks.report.forms.diagram import svg
from tidemark.checks.verdicts.verdict import Verdict
from tidemark.models.findings import Finding

Verdicts = Mapping[tuple[str, str], Verdict]
"""By entry and claim."""


def page(book: Book, verdicts: Verdicts) -> str:
    """The page in Markdown. Of verdicts that are not given it has the words alone."""
    lines = [f"# Findings: {book.manifest.name}", "", "[All findings](FINDINGS.md)", ""]
    for finding in book.findings:
        lines += _section(book, finding, verdicts)
    return "\n".join(lines)


def _section(book: Book, finding: Finding, verdicts: Verdicts) -> Iterator[str]:
    yield from [
        f"## {finding.title} {{ #{finding.id} }}",
        "",
        f"`{finding.id}` · {linked(finding.source)}",
        "",
    ]
    yield from [finding.text, ""]
    for one in finding.evidence:
        yield f"- `{one.claim}`: {book.expected(finding, one).value} by `{one.entry}`"
    for one in book.shown(finding):
        verdict = verdicts.get((one.entry, one.claim))
        if verdict is None or verdict.counterexample is None:
            yield from ["", f"`tidemark show findings {finding.id}` prints the run of `{one.entry}`."]
            continue
        steps = len(verdict.counterexample.steps)
        picture = svg(verdict.counterexample).replace("\n", "")
        yield from ["", f"The shortest run of `{one.entry}`, {steps} steps:", ""]
        yield f'<div class="run">{picture}</div>'
    yield ""
