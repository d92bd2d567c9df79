"""What the suite has found out about the sources: words here, evidence in the manifest.

``*.toml``: one file per protocol. ``FINDINGS.md`` is made from them and from the runs by
``tidemark findings``.
"""

from tidemark.models.findings.model import Evidence, Finding, FindingsFile, finding_files, load_findings
from tidemark.models.findings.sources import source_key, sources_in

__all__ = [
    "Evidence",
    "Finding",
    "FindingsFile",
    "finding_files",
    "load_findings",
    "source_key",
    "sources_in",
]
