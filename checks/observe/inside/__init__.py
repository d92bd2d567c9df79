"""Programs of the private environment, beside the server: clients, the mock broker, the broker's reader.

They import the standard library, the packages of ``requirements/milvus.lock`` and each other, nothing else of
this project, and are started as ``python -m inside.NAME`` with the folder above on the path.
"""
