"""The design without one of its rules, for proofs that must fail and for mutants of the implementation."""

from tidemark.spec.scheduler import Scheduler


class SideBySide(Scheduler):
    """Several ddl tasks at a time, as Milvus has had them since 2.3."""

    SERIAL = False


class NotSettled(Scheduler):
    """A task ends when its call is given up."""

    SETTLED = False
