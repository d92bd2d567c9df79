"""What rests on what: assumptions and guarantees."""
