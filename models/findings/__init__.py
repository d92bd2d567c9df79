"""The results of the suite about the sources: words here, evidence in the manifest.

One ``findings.toml`` per protocol. ``FINDINGS.md`` is their index, printed by ``tidemark show findings``.
"""

from tidemark.models.findings.model import (
    Evidence,
    Finding,
    FindingsFile,
    all_findings,
    finding_files,
    load_findings,
)

__all__ = [
    "Evidence",
    "Finding",
    "FindingsFile",
    "all_findings",
    "finding_files",
    "load_findings",
]
