"""A proxy that is paused past its lease: the fate of the rows that it appends afterwards."""

from tidemark.spec.paused.proof import Paused as Paused
