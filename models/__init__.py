"""In which form a protocol is judged: interpreted, native, symbolic, simulation, conformance."""
