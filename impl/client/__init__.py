"""A client: its calls, session, schemas and history."""
