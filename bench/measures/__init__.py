"""The measures, one module each: what is compared, and the functions that a fresh process calls for it."""
