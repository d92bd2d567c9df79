"""The measures, one module each."""

from __future__ import annotations

from tidemark.bench.measure import Measure
from tidemark.bench.measures import (
    cluster,
    evidence,
    gate,
    growth,
    interleave,
    interleave_spark,
    mutants,
    oracle,
    proof,
    search,
    shrinking,
    spark,
    spin,
    startup,
    tlc,
)

MEASURES: tuple[Measure, ...] = (
    search.MEASURE,
    spin.MEASURE,
    tlc.MEASURE,
    growth.MEASURE,
    startup.MEASURE,
    proof.MEASURE,
    interleave.MEASURE,
    interleave_spark.MEASURE,
    shrinking.MEASURE,
    spark.MEASURE,
    cluster.MEASURE,
    mutants.MEASURE,
    oracle.MEASURE,
    gate.MEASURE,
    evidence.MEASURE,
)
