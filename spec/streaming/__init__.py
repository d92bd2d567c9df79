"""The streaming node of 2.6: it writes messages and ticks of its channels itself."""

from tidemark.spec.streaming.proof import Streaming as Streaming
