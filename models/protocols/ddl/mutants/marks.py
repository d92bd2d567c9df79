"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.ddl import Ddl
from tidemark.spec.language import transition_invariant


class WrongMarks(Ddl):
    """A frame condition counts as a property, or a property as a frame condition."""

    @transition_invariant()
    def a_finished_task_stays_finished(before, after):
        return super().a_finished_task_stays_finished(after)

    @transition_invariant(frame=True)
    def reports_never_go_back(before, after):
        return super().reports_never_go_back(after)
