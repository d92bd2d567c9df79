"""A real server: started, driven by clients, broken on purpose, and what it leaves behind collected."""
