"""The first files of a user: a protocol, its manifest, a test, and a job for continuous integration."""
