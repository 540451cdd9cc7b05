# SPDX-License-Identifier: Apache-2.0
# usage: bad_input.py PLUMBLINE_MODELS
# What `plumbline train` cannot use ends it with the status given here and a message that names the
# field, its value and what was expected; a run's folder stays as it was.
import pathlib
import subprocess
import sys
import tempfile

program = sys.argv[1]
SMALL = ["--layers", "1", "--heads", "1", "--width", "32", "--length", "16", "--batch", "4"]


def train(*arguments):
    done = subprocess.run([program, "train", *map(str, arguments)], capture_output=True, text=True,
                          timeout=60)
    return done.returncode, done.stderr


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    text, empty, new, old = place / "text.txt", place / "empty.txt", place / "new", place / "old"
    text.write_text("the quick brown fox jumps over the lazy dog. " * 60)
    empty.write_text("")
    model = place / "broken.model"
    model.write_text("no model")
    status, said = train(text, "--out", old, *SMALL, "--updates", 3)
    assert status == 0, said
    before = {p.name: p.read_bytes() for p in old.iterdir()}
    newest = old / "checkpoint-00000003.safetensors"

    cases = [
        ([place / "none.txt", "--out", new], 2, ["none.txt"]),
        ([empty, "--out", new], 2, ["empty.txt"]),
        ([place, "--out", new], 2, [str(place)]),
        ([text, "--out", new, "--tokenizer", model], 2, ["broken.model"]),
        ([text, "--out", new, "--vocabulary", 100], 2, ["vocabulary is 100", "at least 261"]),
        ([text, "--out", new, "--heads", 3], 2, ["heads is 3", "divisor of width, 64"]),
        ([text, "--out", new, "--width", 40, "--heads", 1], 2, ["40", "32, 48, 64"]),
        ([text, "--out", new, "--position", "learnable", "--length", 10000], 2,
         ["expected at least 10001"]),
        ([text, "--out", new, "--position", "kable"], 2, ['position is "kable"', "cable"]),
        ([text, "--out", new, "--preset", "nan"], 2, ['"nan"', "nano"]),
        ([text, "--out", new, "--preset", "bert_base", "--position", "fox"], 2, ["fox"]),
        ([text, "--out", new, "--format", "fp16"], 2, ["fp16", "bf16"]),
        ([text, "--out", new, "--batch", 10, "--part", 3], 2, ["part is 3", "batch, 10"]),
        ([text, "--out", new, "--updates", 0], 2, ["updates is 0"]),
        ([text, "--out", new, "--warm-up", 300], 2, ["warm_up is 300"]),
        ([text, "--out", new, "--learning-rate", "nan"], 2, ["learning_rate is nan"]),
        ([text, "--out", new, "--validation", 1], 2, ["validation is 1"]),
        ([text, "--out", new, "--seed", -1], 2, ["--seed", "-1"]),
        ([text, "--out", text], 2, ["text.txt"]),
        ([text, "--out", new, "--resume"], 2, ["holds no checkpoint"]),
        ([text, "--out", old, *SMALL], 2, ["holds a run already", "--resume"]),
        ([text, "--out", old, *SMALL, "--updates", 3, "--resume", "--position", "alibi"], 2,
         ["model.position", "learnable", "alibi"]),
        ([text, text, "--out", old, *SMALL, "--updates", 3, "--resume"], 2, ["data is"]),
        ([text, "--out", new, "--backend", "tpu"], 2, ['"tpu"', "emulated or cuda"]),
        ([text], 2, ["--out"]),
    ]
    if not (pathlib.Path(program).parent / "plumbline-models-cuda").exists():
        cases.append(([text, "--out", new, "--backend", "cuda"], 3, ["plumbline-models-cuda"]))
    failures = []
    for arguments, expected, parts in cases:
        status, said = train(*arguments)
        if status != expected or not all(part in said for part in parts):
            failures.append(f"{' '.join(map(str, arguments))}: status {status}: {said}")
        if {p.name: p.read_bytes() for p in old.iterdir()} != before:
            sys.exit(f"{arguments} changed the folder of a run")

    # A damaged checkpoint is refused, and the message names the one before it.
    damaged = bytearray(newest.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    newest.write_bytes(damaged)
    status, said = train(text, "--out", old, *SMALL, "--updates", 3, "--resume")
    for part in ("damaged", "SHA-256", "checkpoint-00000003", "checkpoint-00000000"):
        if status != 2 or part not in said:
            failures.append(f"damaged checkpoint: status {status}: {said}")
            break
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(cases) + 1} refusals")
