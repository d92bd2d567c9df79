"""An embedded cluster: every role in one event loop, on real files."""
