"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant
from tidemark.spec.queries import Queries


class WrongMarks(Queries):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def an_answer_is_complete(s):
        return super().an_answer_is_complete()
