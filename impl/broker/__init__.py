"""The broker: physical channels as logs on files, the sessions of those who append, and the fences."""
