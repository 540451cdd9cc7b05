#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: coverage.py INDEX

Compares the index of what the papers say (the JSON files in the folder INDEX) with the papers' texts, which are not
ours to distribute: the files in the folder PLUMBLINE_PAPERS whose SHA-256 an index names. A passage must begin at its
place with the words that the index has, no two may overlap, and every digit of a text must lie in one of them.
Status 77 without PLUMBLINE_PAPERS."""
import hashlib
import json
import os
import pathlib
import sys


def problems(index, text):
    """What is wrong with the index of one document, whose text is given as bytes."""
    covered = bytearray(len(text))
    before = 0
    for passage in index["passages"]:
        begin, end = passage["at"]
        if not before <= begin < end <= len(text):
            yield f'the passage at {begin} to {end} overlaps the one before it, or the text ends before it'
            continue
        if not text[begin:end].startswith(passage["begins"].encode()):
            yield f'at {begin} the text does not have {passage["begins"]!r}'
        covered[begin:end] = b"\1" * (end - begin)
        before = end
    alone = [at for at in range(len(text)) if text[at : at + 1].isdigit() and not covered[at]]
    for at in alone[:20]:
        yield f"no passage has the digit at {at}: {text[max(0, at - 40):at + 20].decode(errors='replace')!r}"
    if len(alone) > 20:
        yield f"no passage has {len(alone) - 20} digits more"


def main(folder, papers):
    indices = [json.loads(file.read_text()) for file in sorted(pathlib.Path(folder).glob("*.json"))]
    if not indices:
        print(f"{folder}: no index")
        return 1
    if not papers:
        print("skipped: PLUMBLINE_PAPERS names no folder with the papers' texts")
        return 77
    texts = {}
    for file in sorted(pathlib.Path(papers).iterdir()):
        if file.is_file():
            content = file.read_bytes()
            texts[hashlib.sha256(content).hexdigest()] = content
    failed = False
    for index in indices:
        text = texts.get(index["sha256"])
        found = ["its text is not in the folder"] if text is None else list(problems(index, text))
        if text is not None and len(text) != index["bytes"]:
            found.append(f'it has {len(text)} bytes, not {index["bytes"]}')
        for problem in found:
            print(f'{index["name"]}: {problem}')
        failed = failed or bool(found)
        print(f'{index["name"]}: {len(index["passages"])} passages')
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], os.environ.get("PLUMBLINE_PAPERS")))
