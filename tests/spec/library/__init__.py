"""The pieces of protocols."""
