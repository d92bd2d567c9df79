"""What is true: one file per protocol, written in the language of `spec.language`."""
