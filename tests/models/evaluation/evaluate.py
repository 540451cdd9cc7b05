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
    """Before any work: nothing has been measured, or printed."""
    status, out, err = run("evaluate", *arguments)
    said = [said] if isinstance(said, str) else said
    assert status == 2 and not out and all(s in err for s in said), f"{arguments}: {status}, {err}"


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
    refused(["--lengths is 271", "at most 269"], *perplexity, "--lengths", 271)
    refused("--lengths is 0", *perplexity, "--lengths", 0)
    refused("--last is 17", *perplexity, "--lengths", "16,32", "--last", 17)
    refused(["missing", "does not exist"], "perplexity", missing, "--data", text, "--lengths", 16)
    refused(["models is", "twice"], "perplexity", alibi, alibi, "--data", text, "--lengths", 16)
    for lengths, wrong in (("16,,32", '"16,,32"'), ("16,", '"16,"'), ("", '""'), ("16,x", '"x"'),
                           ("16,32,16", "16 twice"), ("4294967312", '"4294967312"')):
        refused([f"--lengths is {wrong}; expected"], *perplexity, "--lengths", lengths)

    # What is no model, and what was one.
    for name, size, wrong in (("cut", -1, ["length of the data", "cut short"]),
                              ("header", 40, ["file length is 40 bytes", "cut short"]),
                              ("empty", 0, ["file length is 0 bytes"])):
        whole = max(alibi.glob("*.safetensors")).read_bytes()
        (place / name).write_bytes(whole[:size])
        refused([name, *wrong], "perplexity", place / name, "--data", text, "--lengths", 16)
    refused(["no safetensors file", '"the quick brown'], "maps", text, "--text", "a", "--out",
            place / "no")
    refused("does not exist", "curves", missing)
    refused("which has no log.jsonl", "curves", place)

    # One file for two results, however it is spelt; or for a result and what is read.
    other = place / "alibi" / ".." / "one"
    (place / "one").touch()
    (place / "link").symlink_to(place / "one")
    for one in (place / "one", other, place / "link"):
        refused(["--json and --svg", "two files"], *perplexity, "--lengths", 16, "--json",
                place / "one", "--svg", one)
    refused(["--json is", "which is read"], *perplexity, "--lengths", 16, "--json", text)
    refused("--json is empty", *perplexity, "--lengths", 16, "--json", "")
    refused("--svg: file", *perplexity, "--lengths", 16, "--svg", missing / "a.svg")
    refused(["--data: file", "missing"], "perplexity", alibi, "--data", missing, "--lengths", 16)
    refused("--tokenizer: ", *perplexity, "--lengths", 16, "--tokenizer", "no.model")

    maps = place / "maps"
    result = maps / "maps.json"  # in a folder that is made
    right("evaluate", "maps", alibi, "--text", "the fox", "--out", maps, "--json", result)
    attention = json.loads(result.read_text())["heads"][0]["attention"]
    # p_ij = e_j / sum e: of seven keys the sum has 6 roundings to fp32; its reciprocal, the product
    # with it and, in this sum of at most 1, doubles' roundings have less than 3 more.
    assert len(attention) == 7 and all(abs(sum(row) - 1) <= 9 * 2**-24 for row in attention)
    assert sorted(p.name for p in maps.iterdir()) == ["attention-layer-0.svg", "bias-layer-0.svg",
                                                   "maps.json"]
    drawn(maps / "bias-layer-0.svg")
    refused("--text", "maps", alibi, "--out", maps)
    refused("--length", "maps", alibi, "--text", "a", "--length", 0, "--out", maps)
    long_text = place / "long.txt"
    long_text.write_text("a" * 6000)  # 5792^2 <= 2^25 < 5793^2
    refused(["--length is 600", "at most 5792"], "maps", alibi, "--data", long_text, "--length",
            9999, "--out", maps)
    refused(["--json and --out", "two files"], "maps", alibi, "--text", "a", "--out", maps,
            "--json", maps / "bias-layer-0.svg")

    cost = place / "cost"
    out = right("evaluate", "cost", "--lengths", 16, "--positions", "nope,cable", "--repeats", 1,
                "--out", cost)
    assert "emulation" in out, out
    assert "emulation" in drawn(cost / "token.svg")[0].text
    refused("--lengths is 8", "cost", "--lengths", 8)
    refused(["--positions is", "no_such_method"], "cost", "--lengths", 16, "--positions",
            "no_such_method")
    refused("--positions is", "cost", "--lengths", 16, "--positions", "nope,,alibi")
    refused("--lengths is 16777217", "cost", "--lengths", "16,16777217")
    refused('--preset is "bert_base"', "cost", "--lengths", 16, "--preset", "bert_base")
    refused("--new-tokens is 0", "cost", "--lengths", 16, "--new-tokens", 0)
    (place / "full" / "token.svg").mkdir(parents=True)
    for out in (text, text / "below", place / "full"):
        refused("--out", "cost", "--lengths", 16, "--positions", "nope", "--out", out)
    print("all as expected")
