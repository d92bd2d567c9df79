"""Linear judges: a few integers a channel or key, each derived from a claim of the specification."""
