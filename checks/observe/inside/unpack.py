"""Unpacks the server of the wheel ``milvus``: each file is compressed by itself.

usage: python unpack.py DATA OUT     DATA: the folder ``milvus/data`` of the wheel
"""

import lzma
import shutil
import sys
from pathlib import Path


def main() -> None:
    """Write ``OUT/bin`` and the templates of the settings."""
    data, out = (Path(each) for each in sys.argv[1:])
    (out / "bin").mkdir(parents=True)
    for packed in sorted((data / "bin").glob("*.lzma")):
        program = out / "bin" / packed.stem
        with lzma.open(packed) as source, program.open("wb") as target:
            shutil.copyfileobj(source, target)
        program.chmod(0o755)
    for name in ("config.yaml.template", "glog.conf"):
        shutil.copy(data / name, out / name)


if __name__ == "__main__":
    main()
