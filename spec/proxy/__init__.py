"""A proxy's unfinished tasks, minTs of each channel, and its time tick."""

from tidemark.spec.proxy.proof import Proxy as Proxy
