"""What is judged within which bounds, and what must come out: one TOML file per protocol.

A folder of its name may hold more files with more of its entries.
"""

from tidemark.models.manifest.errors import ManifestError, PinError
from tidemark.models.manifest.load import load, manifest_files, parse
from tidemark.models.manifest.model import (
    AnyEntry,
    ArgumentEntry,
    ConformEntry,
    Expectation,
    Expected,
    GeneratedMutants,
    InstanceEntry,
    InterleaveEntry,
    Kind,
    Manifest,
    MutantEntry,
    ProofEntry,
    SearchEngine,
    Tier,
)
from tidemark.models.manifest.resolve import check_against_spec, instance_of

__all__ = [
    "AnyEntry",
    "ArgumentEntry",
    "ConformEntry",
    "Expectation",
    "Expected",
    "GeneratedMutants",
    "InstanceEntry",
    "InterleaveEntry",
    "Kind",
    "Manifest",
    "ManifestError",
    "MutantEntry",
    "PinError",
    "ProofEntry",
    "SearchEngine",
    "Tier",
    "check_against_spec",
    "instance_of",
    "load",
    "manifest_files",
    "parse",
]
