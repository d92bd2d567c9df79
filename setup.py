"""The folders of the repository as subpackages of ``tidemark``: spec/ is tidemark.spec, and so on;
tidemark/ is the package itself.
"""

from setuptools import find_packages, setup

ROOMS = ("spec", "impl", "models", "checks", "bench")

setup(
    package_dir={"tidemark": "tidemark", **{f"tidemark.{room}": room for room in ROOMS}},
    packages=[
        "tidemark",
        *(
            f"tidemark.{name}"
            for room in ROOMS
            for name in [room, *(f"{room}.{sub}" for sub in find_packages(room))]
        ),
    ],
)
