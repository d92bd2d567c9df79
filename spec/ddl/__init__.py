"""The least timestamp of the coordinator's unfinished DDL."""

from tidemark.spec.ddl.proof import Ddl as Ddl
