"""What clients saw, against the level that they asked for: by times and timestamps, a sort and a sweep."""
