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
    FramesEntry,
    GeneratedMutants,
    ImplementationMutants,
    InstanceEntry,
    InterleaveEntry,
    Kind,
    Manifest,
    MutantEntry,
    PinsEntry,
    ProofEntry,
    SearchEngine,
    StrengthEntry,
    Tier,
    is_on_spark,
)
from tidemark.models.manifest.pins import Pin, lock_file
from tidemark.models.manifest.project import SUITE, chosen_manifests
from tidemark.models.manifest.resolve import check_against_spec, instance_of

__all__ = [
    "SUITE",
    "AnyEntry",
    "ArgumentEntry",
    "ConformEntry",
    "Expectation",
    "Expected",
    "FramesEntry",
    "GeneratedMutants",
    "ImplementationMutants",
    "InstanceEntry",
    "InterleaveEntry",
    "Kind",
    "Manifest",
    "ManifestError",
    "MutantEntry",
    "Pin",
    "PinError",
    "PinsEntry",
    "ProofEntry",
    "SearchEngine",
    "StrengthEntry",
    "Tier",
    "check_against_spec",
    "chosen_manifests",
    "instance_of",
    "is_on_spark",
    "load",
    "lock_file",
    "manifest_files",
    "parse",
]
