"""In which form a protocol is judged: interpreted, symbolic, native, stateful, scheduled."""
