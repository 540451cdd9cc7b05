# SPDX-License-Identifier: Apache-2.0
# usage: tasks.py PLUMBLINE_MODELS
# `plumbline evaluate passkey` and `needles` as a person runs them, on models that `train` made.
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

program = sys.argv[1]
SMALL = ["--layers", 1, "--heads", 1, "--width", 32, "--length", 16, "--batch", 4]
MASK = (1 << 64) - 1


def run(*arguments, workers=None):
    environment = dict(os.environ)
    if workers:
        environment["PLUMBLINE_EMULATION_WORKERS"] = workers
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          timeout=100, env=environment)
    return done.returncode, done.stdout, done.stderr


def right(*arguments, **others):
    status, out, err = run(*arguments, **others)
    assert status == 0, f"{arguments}: {err}"
    return out


def report(*arguments, **others):
    return json.loads(right(*arguments, "--json", **others))


def mix(z):  # SplitMix64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def key(seed, number):  # support/draw.hpp, stream 0; five digits: models/text/passkey.hpp
    word = mix(mix(seed ^ mix(0)) + (number + 1) * 0x9E3779B97F4A7C15 & MASK)
    return str(10000 + ((word >> 32) * 90000 >> 32))


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    text, essay, ones = place / "text.txt", place / "essay.txt", place / "ones.txt"
    text.write_text("the quick brown fox jumps over the lazy dog. " * 60)
    essay.write_text("The mason built it. The miller sold it. ")
    ones.write_text("".join(chr(c) + "1111" for c in range(32, 127)) * 10)
    cable, learnable, bert = place / "cable", place / "learnable", place / "bert"
    right("train", ones, "--out", cable, *SMALL, "--position", "cable", "--updates", 40,
          "--learning-rate", 0.03)
    right("train", text, "--out", learnable, *SMALL, "--position", "learnable", "--updates", 1)
    right("train", text, "--out", bert, *SMALL, "--preset", "bert_base", "--vocabulary", 261,
          "--updates", 1)

    # A model that has seen ones behind everything says 11111: its right digits are the keys' ones.
    passkey = ["evaluate", "passkey", cable, "--lengths", "250,300", "--depths", 4, "--prompts", 3,
               "--seed", 5]
    result = report(*passkey)
    assert result["format"] == "plumbline-passkey-1", result
    assert (result["seed"], result["prompts"]) == (5, 3), result
    assert result["depths"] == [0, 1 / 3, 2 / 3, 1], result
    assert result["model"] == {"path": str(cable), "position": "cable", "trained_length": 16,
                               "tokenizer": "byte"}, result
    keys = [key(5, number) for number in range(12)]
    digits = "".join(keys).count("1")
    assert digits > 0 and "11111" not in keys
    for row, length in zip(result["lengths"], (250, 300), strict=True):
        assert row == {"length": length, "accuracy": 0, "digit_accuracy": digits / 60,
                       "accuracy_by_depth": [0, 0, 0, 0]}, (row, digits)
    assert report(*passkey, "--batch", 5, workers="1") == result
    table = right(*passkey, "--json", place / "passkey.json", "--svg",
                  place / "passkey.svg").splitlines()
    assert table[1].split() == ["250", "0.000", f"{digits / 60:.3f}", "...."], table
    assert json.loads((place / "passkey.json").read_text()) == result

    svg = xml.etree.ElementTree.parse(place / "passkey.svg").getroot()
    words = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert svg.tag.endswith("svg") and {"250", "300", "0.33", "mean"} <= set(words), words

    # The usual lengths: doublings of 16, of which the first that holds a prompt is 256.
    refused = report("evaluate", "passkey", learnable, "--depths", 2)["lengths"]
    assert refused == [{"length": 256, "refused": "its table of positions has 16 rows"}], refused

    needles = ["evaluate", "needles", cable, "--tasks", "single_2,multivalue", "--lengths", "700",
               "--prompts", 2, "--answer-room", 8, "--essay", essay]
    result = report(*needles)
    assert result["format"] == "plumbline-needles-1", result
    assert [s["task"] for s in result["scores"]] == ["single_2", "multivalue"], result
    assert all(s["length"] == 700 and s["score"] == 0 for s in result["scores"]), result
    assert xml.etree.ElementTree.fromstring(right(*needles, "--svg")).tag.endswith("svg")
    assert report(*needles, "--batch", 1, workers="1") == result

    cases = [
        (["passkey", place / "none"], ["none"]),
        (["passkey", cable, "--lengths", "256,100"], ["--lengths is 100", "at least 195"]),
        (["passkey", cable, "--lengths", "many"], ["--lengths", "many"]),
        (["passkey", cable, "--depths", 1], ["--depths is 1", "from 2 to"]),
        (["passkey", cable, "--prompts", 0], ["--prompts is 0"]),
        (["passkey", cable, "--batch", 0], ["--batch is 0"]),
        (["passkey", cable, "--seed", "x"], ["--seed", "x"]),
        (["passkey", cable, "--tokenizer", place / "none.model"], ["none.model"]),
        (["passkey", bert], ["bert", "gpt2"]),
        (["needles", cable, "--tasks", "single_4"], ["--tasks is", "single_4", "multiquery"]),
        (["needles", cable, "--tasks", "single_1,single_1"], ["--tasks is", "twice"]),
        (["passkey", cable, "--json", place / "one", "--svg", place / "one"], ["two files"]),
        (["needles", cable, "--lengths", 100], ["--lengths is 100", "at least"]),
        (["needles", cable, "--essay", place / "none.txt"], ["none.txt"]),
        (["needles", cable, "--answer-room", 0], ["--answer-room is 0"]),
    ]
    for arguments, parts in cases:
        status, out, err = run("evaluate", *arguments)
        assert status == 2 and all(part in err for part in parts), (arguments, status, err)
    print(f"{len(cases)} refusals")
