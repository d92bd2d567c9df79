"""The rule of Milvus' client, for proofs that must fail."""

from tidemark.spec.retries import Retries


class GoesOnIfAnother(Retries):
    """A request is made again unless the version is the last one that was refused."""

    GROWS = False
