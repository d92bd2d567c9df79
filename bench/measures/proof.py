"""Proof obligations: how many, how long, and is any left open?"""

from functools import partial

from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import Clock, Sample, Side, count, seconds, value
from tidemark.bench.series import Goal, Measure, Plan, Row


def proved(*, protocol: str, jobs: int) -> Sample:
    """The proof for any size, with so many processes."""
    from tidemark.checks.prove.proof import prove

    clock = Clock()
    proof = prove(protocol, jobs=jobs)
    answers = [outcome.answer for outcome in proof.outcomes]
    return Sample(
        seconds=clock.seconds,
        cpu_seconds=clock.cpu_seconds if jobs == 1 else 0.0,
        counts={
            "obligations": len(answers),
            "proved": sum(outcome.proved for outcome in proof.outcomes),
            "unknown": sum(answer.status == "unknown" for answer in answers),
        },
        values={"slowest": max((answer.seconds for answer in answers), default=0.0)},
    )


NAME = "proof"
ONE, TWO = "one process", "two processes"
NONE_UNKNOWN = Goal(at_most=0, unit="")


def run(plan: Plan) -> list[Row]:
    """The proof for any size with one process and with two."""
    protocol = "tidemark.spec.allocation:Allocation" if plan.quick else "tidemark.spec.flush:Flush"
    sides = [
        Side(name, partial(in_fresh_process, proved, family=True, protocol=protocol, jobs=jobs))
        for jobs, name in enumerate((ONE, TWO), start=1)
    ]
    series = plan.series(sides, measure=NAME, size=protocol.rpartition(":")[2])
    return [
        series.row(ONE, "obligations", count("obligations"), unit=""),
        series.row(ONE, "proved", count("proved"), unit=""),
        series.row(ONE, "UNKNOWN", count("unknown"), unit="", goal=NONE_UNKNOWN),
        series.row(ONE, f"all obligations, {ONE}", seconds, unit="s"),
        series.row(TWO, f"all obligations, {TWO}", seconds, unit="s", against=ONE, inverse=True),
        series.row(ONE, "slowest obligation", value("slowest"), unit="s"),
    ]


MEASURE = Measure(NAME, "Proof obligations for any size, and the seconds that they take.", run)
