"""The broker: physical channels as logs on files, the sessions of their writers, and the fences."""
