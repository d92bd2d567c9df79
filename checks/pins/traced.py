"""A script: prints as JSON what the protocols of the named manifests say, with variants and readings.

It is run with the modules of another revision, so it uses few of them.
"""

import json
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

from tidemark.models.manifest import load
from tidemark.models.pins.items import said_by
from tidemark.spec.language.protocol import resolve


def main(manifests: Sequence[str]) -> None:
    """Print a list for each manifest: id, digest, digest of the text, text; of a claim its tree."""
    found = []
    for path in map(Path, manifests):
        content = load(path) if path.exists() else None
        said = said_by(content.protocol, content.variants(), content.readings()) if content else {}
        claims = resolve(content.protocol).trace().properties if content else ()
        trees = {claim.id: pickle.dumps(claim).hex() for claim in claims}
        found.append(
            [[name, one.pin.digest, one.pin.wording, one.text, trees.get(name)] for name, one in said.items()]
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
