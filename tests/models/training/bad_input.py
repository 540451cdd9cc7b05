# SPDX-License-Identifier: Apache-2.0
# usage: bad_input.py PLUMBLINE_MODELS
# What `plumbline train` cannot use ends it with the status given here and a message that names the
# option, its value and what was expected; a run's folder stays as it was.
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

program = sys.argv[1]
SMALL = ["--layers", "1", "--heads", "1", "--width", "32", "--length", "16", "--batch", "4"]


def train(*arguments, largest_file=None):
    """With `largest_file`, no file can grow beyond so many bytes: a disk that is full for it."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    # Python ignores SIGXFSZ, and so does what it starts unless signals are restored.
    done = subprocess.run([program, "train", *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, preexec_fn=limit if largest_file else None,
                          restore_signals=False)
    return done.returncode, done.stderr


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    text, empty, new, old = place / "text.txt", place / "empty.txt", place / "new", place / "old"
    text.write_text("the quick brown fox jumps over the lazy dog. " * 60)
    empty.write_text("")
    longer, other = place / "longer.txt", place / "other.txt"
    longer.write_text(text.read_text() + "!")
    other.write_text(text.read_text().replace("quick", "thick"))
    model = place / "broken.model"
    model.write_text("no model")
    status, said = train(text, "--out", old, *SMALL, "--updates", 3)
    assert status == 0, said
    before = contents(old)
    newest = old / "checkpoint-00000003.safetensors"

    cases = [
        ([place / "none.txt", "--out", new], 2, ["none.txt"]),
        ([empty, "--out", new], 2, ["empty.txt"]),
        ([place, "--out", new], 2, [str(place)]),
        ([text, "--out", new, "--tokenizer", model], 2, ["broken.model"]),
        ([text, "--out", new, "--vocabulary", 100], 2, ["--vocabulary is 100", "at least 261"]),
        ([text, "--out", new, "--heads", 3], 2, ["--heads is 3", "divisor of --width, 64"]),
        ([text, "--out", new, "--width", 40, "--heads", 1], 2,
         ["--width / --heads is 40", "32, 48, 64"]),
        ([text, "--out", new, "--position", "learnable", "--length", 10000], 2,
         ["--length is 10000", "at most", "the training part of the data has"]),
        ([text, "--out", new, "--validation", 0.01], 2,
         ["--length is 64", "at most 26: the validation part of the data has 27 tokens"]),
        ([text, "--out", new, "--position", "kable"], 2, ['--position is "kable"', "cable"]),
        ([text, "--out", new, "--preset", "nan"], 2, ['"nan"', "nano"]),
        ([text, "--out", new, "--preset", "bert_base", "--position", "fox"], 2, ["fox"]),
        ([text, "--out", new, "--format", "fp16"], 2, ["fp16", "bf16"]),
        ([text, "--out", new, "--batch", 10, "--part", 3], 2, ["--part is 3", "--batch, 10"]),
        ([text, "--out", new, "--updates", 0], 2, ["--updates is 0"]),
        ([text, "--out", new, "--warm-up", 300], 2, ["--warm-up is 300", "--updates, 300"]),
        ([text, "--out", new, "--learning-rate", "nan"], 2,
         ['--learning-rate is "nan"', "a finite number"]),
        ([text, "--out", new, "--learning-rate", 1e99], 2, ["--learning-rate is 1e+99", "3.4e+38"]),
        ([text, "--out", new, "--learning-rate", 1e-60], 2, ["--learning-rate is 1e-60", "1.2e-38"]),
        ([text, "--out", new, "--learning-rate", 1e-3, "--lowest-learning-rate", 1], 2,
         ["--lowest-learning-rate is 1", "at most --learning-rate, 0.001"]),
        ([text, "--out", new, "--clip", -1], 2, ["--clip is -1", "at least 0"]),
        ([text, "--out", new, "--clip", "inf"], 2, ['--clip is "inf"', "a finite number"]),
        ([text, "--out", new, "--dropout", "0x1p-3"], 2, ['--dropout is "0x1p-3"', "number"]),
        ([text, "--out", new, "--layers", "two"], 2, ['--layers is "two"', "a whole number"]),
        ([text, "--out", new, "--layers", "010"], 2, ['--layers is "010"', "a whole number"]),
        ([text, "--out", new, "--layers", 2**31], 2, ["--layers is 2147483648", "at most 2147483647"]),
        ([text, "--out", new, "--layers"], 2, ["--layers is given without its value"]),
        ([text, "--out", new, "--save-every", -1], 2, ["--save-every is -1"]),
        ([text, "--out", new, "--tokens-per-update", 0], 2, ["--tokens-per-update is", "from 1 to"]),
        ([text, "--out", new, "--position", "cable", "--base", 0], 2,
         ["--base is given with the position method cable", "only with sinusoidal,", "local_rope"]),
        ([text, "--out", new, "--window", 3], 2, ["--window", "only with local_rope, local"]),
        ([text, "--out", new, "--train-mu"], 2, ["--train-mu", "learnable", "only with ggd"]),
        ([text, "--out", new, "--position", "rope", "--base", 0], 2, ["--base is 0", "above 0"]),
        ([text, "--out", new, "--position", "cope", "--positions", 0], 2, ["--positions is 0"]),
        ([text, "--out", new, "--masking", 0.2], 2, ["--masking", "only for a BERT"]),
        ([text, "--out", new, "--separator", "%"], 2, ['--separator is "%"', "no line of the texts"]),
        ([text, "--out", new, "--tokenizer", "gpt2", "--vocabulary", 50257], 2,
         ["tokenizer is gpt2", "token shards"]),
        ([text, "--out", new, "--tokenizer", "gpt2"], 2, ["--vocabulary is 261", "at least 50257"]),
        ([text, "--out", new, "--validation", 1], 2, ["--validation is 1"]),
        ([text, "--out", new, "--validation", 1e-6], 2, ["--validation is 1e-06", "0 of 2701"]),
        ([text, "--out", new, "--seed", -1], 2, ["--seed", "-1"]),
        ([text, "--out", text], 2, ["text.txt"]),
        ([text, "--out", new, "--resume"], 2, ["--out is", "no folder", "--resume"]),
        ([text, "--out", place, "--resume"], 2, ["--out is", "holds no checkpoint"]),
        ([text, "--out", old, *SMALL], 2, ["holds a run already", "--resume"]),
        ([text, "--out", old, *SMALL, "--updates", 3, "--resume", "--position", "alibi"], 2,
         ["--resume is given with other options", "--position alibi, then learnable;"]),
        ([text, "--out", old, "--layers", 1, "--heads", 1, "--width", 32, "--length", 8, "--batch", 4,
          "--updates", 2, "--resume", "--sequential", "--ssmax", "--learning-rate", 1e-3], 2,
         ["--length 8, then 16;", "--updates 2, then 3", "--learning-rate 0.001, then 0.003",
          "--sequential, which was not given then", "--ssmax, which was not given then"]),
        ([text, text, "--out", old, *SMALL, "--updates", 3, "--resume"], 2,
         ["2 files of data, then 1"]),
        ([longer, "--out", old, *SMALL, "--updates", 3, "--resume"], 2,
         ["longer.txt", "2702 tokens, then 2701"]),
        ([other, "--out", old, *SMALL, "--updates", 3, "--resume"], 2,
         ["other.txt", "has other tokens"]),
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
        if contents(old) != before:
            sys.exit(f"{arguments} changed the folder of a run")

        if new.exists():
            failures.append(f"{' '.join(map(str, arguments))} made a folder")
            shutil.rmtree(new)

    # A full disk, for the next checkpoint and for the log: all that was there stands as it was, with
    # no part of a file or of a line, and the run can go on.
    calm, full = place / "calm", place / "full"
    long_run = [text, *SMALL, "--updates", 40, "--save-every", 40]
    status, said = train(*long_run, "--out", calm)
    assert status == 0, said
    shutil.copytree(calm, full)
    first, last = (f"checkpoint-{n:08}.safetensors" for n in (0, 40))
    (full / last).unlink()
    size = (full / first).stat().st_size
    for limit, name in ((size - 1, last), (4096, "log.jsonl")):
        status, said = train(*long_run, "--out", full, "--resume", largest_file=limit)
        left = contents(full)
        for part in ("after update", "are whole; --resume", name, "is not writable (File too large)"):
            if status != 2 or part not in said:
                failures.append(f"a full disk, {name}: status {status}: {said}")
        log = left.pop("log.jsonl").decode()
        updates = [json.loads(line)["update"] for line in log.splitlines()]
        if updates != [*range(1, len(updates) + 1)] or (name == "log.jsonl") != (len(log) < 4097):
            failures.append(f"a full disk left a log of the updates {updates}")
        wanted = {n: b for n, b in contents(calm).items() if n not in (last, "log.jsonl")}
        if {n: b for n, b in left.items() if not n.endswith(".svg")} != {
                n: b for n, b in wanted.items() if not n.endswith(".svg")}:
            failures.append(f"a full disk, {name}: left {sorted(left)}")
    # What a killed process left, of a number that none has; and what one is writing that lives.
    (full / ".report.json.4194305.0.partial").write_text("{")
    living = full / f".report.json.{os.getpid()}.0.partial"
    living.write_text("{")
    status, said = train(*long_run, "--out", full, "--resume", "--json", full / "report.json")
    if status != 0 or (full / last).read_bytes() != (calm / last).read_bytes():
        failures.append(f"resumed after a full disk: status {status}: {said}")
    partial = [*full.glob(".*.partial")]
    if partial != [living] or not (full / "report.json").exists():
        failures.append(f"left: {partial}")
    status, said = train(text, "--out", new, *SMALL, "--updates", 1, "--json", new / "report.json")
    if status != 0 or not (new / "report.json").exists():
        failures.append(f"a report in the new run's folder: status {status}: {said}")

    # A checkpoint under another name is refused, and both numbers and the one before it are named; a
    # name of its own it may have.
    renamed = place / "renamed"
    shutil.copytree(old, renamed)
    (renamed / newest.name).rename(renamed / "checkpoint-00000009.safetensors")
    status, said = train(text, "--out", renamed, *SMALL, "--updates", 3, "--resume")
    for part in ('checkpoint-00000009.safetensors": metadata updates is 3; expected 9, as the file',
                 "renamed, from checkpoint-00000003", 'before it is "' + str(renamed / first)):
        if status != 2 or part not in said:
            failures.append(f"renamed checkpoint: status {status}: {said}")
    for name, expected in (("checkpoint-00000009.safetensors", 2), ("best.safetensors", 0)):
        (renamed / "checkpoint-00000009.safetensors").rename(renamed / name)
        status, said = train(text, "--from", renamed / name, "--out", place / name, "--batch", 4,
                             "--updates", 1)
        if status != expected:
            failures.append(f"{name}: status {status}: {said}")

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
