"""What the suite has found out about the sources: words here, evidence in the manifest.

``*.toml``: one file per protocol. ``FINDINGS.md`` is made from them and from the runs by
``tidemark findings``.
"""

from tidemark.models.findings.model import Evidence, Finding, FindingsFile, finding_files, load_findings

__all__ = [
    "Evidence",
    "Finding",
    "FindingsFile",
    "finding_files",
    "load_findings",
]
