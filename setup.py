"""The folders of the repository as subpackages of ``tidemark``: spec/ is tidemark.spec, and so on.

The package itself offers what checks/package has.
"""

from setuptools import find_packages, setup

ROOMS = ("spec", "impl", "models", "checks", "bench")
PACKAGE = "checks/package"

setup(
    package_dir={"tidemark": PACKAGE, **{f"tidemark.{room}": room for room in ROOMS}},
    packages=[
        "tidemark",
        *(
            f"tidemark.{name}"
            for room in ROOMS
            for name in [room, *(f"{room}.{sub}" for sub in find_packages(room))]
        ),
    ],
)
