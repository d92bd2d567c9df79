"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant
from tidemark.spec.scheduler import Scheduler


class WrongMarks(Scheduler):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def one_ddl_is_under_way(s):
        return super().one_ddl_is_under_way()
