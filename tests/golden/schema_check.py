# SPDX-License-Identifier: Apache-2.0
"""Every golden file is what golden/schema.json says, and the schema refuses a spoiled one.

usage: schema_check.py FOLDER
"""
import copy
import json
import pathlib
import sys

import jsonschema


def spoiled(content):
    """The same file, wrong in one place after another."""
    for path, value in ((["format"], "plumbline-golden-2"), (["method"], "abili"),
                        (["cases"], []), (["cases", 0, "shape", "keys"], 0),
                        (["cases", 0, "scale"], "0.5"),
                        (["cases", 0, "inputs", sorted(content["cases"][0]["inputs"])[-1], "data"], "0x1p+0  0x1p+0"),
                        (["cases", 0, "outputs", "surprise"], {"shape": [1], "data": "0x1p+0"}),
                        (["cases", 0, "mask", "window"], -1)):
        wrong = copy.deepcopy(content)
        place = wrong
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        yield path, wrong


def main():
    folder = pathlib.Path(sys.argv[1])
    schema = json.loads((folder / "schema.json").read_text())
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    validator = validator(schema)
    files = sorted((folder / "vectors").glob("*.json"))
    assert files, "no golden files"
    for file in files:
        content = json.loads(file.read_text())
        validator.validate(content)
        for path, wrong in spoiled(content):
            assert not validator.is_valid(wrong), f"{file.name}: the schema accepts a wrong {path}"
    print(f"{len(files)} files are valid")


if __name__ == "__main__":
    main()
