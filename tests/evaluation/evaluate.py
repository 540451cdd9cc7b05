# SPDX-License-Identifier: Apache-2.0
# usage: evaluate.py PLUMBLINE_MODELS
# `plumbline evaluate perplexity`, `curves`, `maps` and `cost` as a person runs them, on models that
# `train` made.
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

program = sys.argv[1]
SMALL = ["--layers", 1, "--heads", 1, "--width", 32, "--length", 16, "--batch", 4, "--updates", 2]


def run(*arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          timeout=100)
    return done.returncode, done.stdout, done.stderr


def right(*arguments):
    status, out, err = run(*arguments)
    assert status == 0, f"{arguments}: {err}"
    return out


def refused(said, *arguments):
    status, out, err = run("evaluate", *arguments)
    assert status == 2 and said in err, f"{arguments}: {status}, {err}"


def drawn(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg", path
    return root


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    text, missing = place / "text.txt", place / "missing"
    text.write_text("the quick brown fox jumps over the lazy dog. " * 60)
    alibi, learnable = place / "alibi", place / "learnable"
    # A picture that cannot be written does not end training: here a folder has its name.
    (learnable / "loss.svg").mkdir(parents=True)
    right("train", text, "--out", alibi, *SMALL, "--position", "alibi")
    status, _, said = run("train", text, "--out", learnable, *SMALL, "--position", "learnable")
    assert status == 0 and "loss.svg" in said, said

    # Training draws its curves itself; of two runs they come in one picture.
    for name in ("loss", "norm", "learning_rate"):
        drawn(alibi / f"{name}.svg")
    right("evaluate", "curves", alibi, learnable, "--out", place / "new" / "folder")
    drawn(place / "new" / "folder" / "validation_loss.svg")
    refused("--out", "curves", alibi, learnable)
    refused("missing", "curves", missing)

    # A length beyond the table is told, and the run goes on.
    svg, result = place / "perplexity.svg", place / "perplexity.json"
    perplexity = ["perplexity", alibi, learnable, "--data", text]
    out = right("evaluate", *perplexity, "--lengths", "16,32", "--json", result, "--svg", svg)
    assert "-: learnable at 32" in out, out
    models = json.loads(result.read_text())["models"]
    assert "refused" in models[1]["points"][1]
    for point in models[0]["points"]:
        assert math.isclose(point["perplexity"], math.exp(point["loss"]))
        assert point["tokens"] == 256, point  # of 270: 8 blocks of 32
    drawn(svg)
    right("evaluate", "perplexity", learnable, "--data", text, "--lengths", 32, "--svg", svg)
    assert "no values" in svg.read_text()  # all was refused
    refused("at most 269", *perplexity, "--lengths", 271)
    refused("lengths", *perplexity, "--lengths", 0)
    refused("missing", "perplexity", missing, "--data", text, "--lengths", 16)
    refused("missing", "perplexity", alibi, "--data", missing, "--lengths", 16)
    refused("no.model", *perplexity, "--lengths", 16, "--tokenizer", "no.model")

    maps = place / "maps"
    right("evaluate", "maps", alibi, "--text", "the fox", "--out", maps, "--json", result)
    attention = json.loads(result.read_text())["heads"][0]["attention"]
    assert len(attention) == 7 and all(abs(sum(row) - 1) < 1e-5 for row in attention)
    assert sorted(p.name for p in maps.iterdir()) == ["attention-layer-0.svg", "bias-layer-0.svg"]
    drawn(maps / "bias-layer-0.svg")
    refused("--text", "maps", alibi, "--out", maps)
    refused("--length", "maps", alibi, "--text", "a", "--length", 0, "--out", maps)

    cost = place / "cost"
    out = right("evaluate", "cost", "--lengths", 16, "--positions", "nope,cable", "--repeats", 1,
                "--out", cost)
    assert "emulation" in out, out
    assert "emulation" in drawn(cost / "token.svg")[0].text
    refused("lengths", "cost", "--lengths", 8)
    refused("position", "cost", "--lengths", 16, "--positions", "no_such_method")
    print("all as expected")
