"""The documents as a site: staged, built by MkDocs, and checked. ``make docs`` runs ``__main__``."""
