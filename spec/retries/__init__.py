"""A client's retry of a request whose schema is an old one."""

from tidemark.spec.retries.proof import Retries as Retries
