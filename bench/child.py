"""The other end of ``tidemark.bench.process.in_fresh_process``: call one function, write down its sample."""

import json
import resource
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tidemark.bench.sample import NotMeasured, Sample
from tidemark.spec.language.references import load_callable


def main(text: str) -> None:
    """Carry out one call; whatever else goes wrong ends the process with a traceback."""
    call: dict[str, Any] = json.loads(text)
    function = load_callable(call["target"], what="measure")
    answer: dict[str, Any]
    try:
        sample: Sample = function(**call["arguments"])
        answer = asdict(replace(sample, peak_bytes=peak_bytes()))
    except NotMeasured as why:
        answer = {"missing": why.reason}
    Path(call["answer"]).write_text(json.dumps(answer), encoding="utf-8")


def peak_bytes() -> int:
    """Greatest resident memory of this process.

    The kernel's own figure where there is one: ``getrusage`` also remembers the process that started this
    one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


if __name__ == "__main__":
    main(sys.argv[1])
