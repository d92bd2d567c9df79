"""Commands import what they need: each of these packages takes longer to load than a small search."""

import sys
from pathlib import Path

import pytest

from tests.processes import finished

LOADED = """
import sys
from tidemark.checks.cli.app import run
run(sys.argv[2:])
print("loaded:", *(name for name in sys.argv[1].split() if name in sys.modules))
"""
PROTOCOLS = (
    "tidemark.impl tidemark.models.protocols tidemark.models.simulation tidemark.models.refinement.program"
)
SPARK = "pyspark py4j pandas pyarrow hypothesis"
KERNEL = "numba llvmlite tidemark.models.native.kernel"
GATE = "tidemark.checks.gate.run tidemark.checks.cache.kept tidemark.models.interpreted.interpreter"
PROVER = "z3 cvc5 tidemark.models.symbolic.solve"


@pytest.mark.parametrize(
    ("command", "unwanted"),
    [
        ("doctor --help", f"{PROTOCOLS} {SPARK} {KERNEL} {PROVER} {GATE} numpy jinja2 networkx"),
        ("explore maze-way-out", f"{PROTOCOLS} {SPARK} {PROVER} tidemark.checks.gate.pool"),
        ("explore tests.protocols.small:Lock", f"{PROTOCOLS} {SPARK} {PROVER} jinja2"),
        ("prove tests.protocols_proof.locks:TicketLock", f"{PROTOCOLS} {SPARK} {KERNEL} cvc5 jinja2"),
        ("evidence README.md", f"pyspark py4j pandas {KERNEL} {PROVER} {GATE} jinja2"),
    ],
)
def test_what_a_command_does_not_import(command: str, unwanted: str, tmp_path: Path) -> None:
    build = ["--build", str(tmp_path)] if command.startswith(("explore maze", "evidence")) else []
    done = finished([sys.executable, "-c", LOADED, unwanted, *command.split(), *build])
    assert done.stdout.splitlines()[-1:] == ["loaded:"], done.stdout + done.stderr
