"""The folders of the repository as subpackages of ``tidemark``: spec/ is tidemark.spec, and so on.

The package itself offers what checks/package has.
"""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "checks/package"
ROOMS = [room for room in ("spec", "impl", "models", "checks", "bench") if Path(room).is_dir()]
"""Those that are here: checks/environment/wheels.sh builds a wheel of some."""

setup(
    package_dir={"tidemark": PACKAGE, **{f"tidemark.{room}": room for room in ROOMS}},
    packages=[
        *(["tidemark"] if Path(PACKAGE).is_dir() else []),
        *(
            f"tidemark.{name}"
            for room in ROOMS
            for name in [room, *(f"{room}.{sub}" for sub in find_packages(room))]
        ),
    ],
)
