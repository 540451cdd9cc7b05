# SPDX-License-Identifier: Apache-2.0
# usage: generate_program.py PLUMBLINE_MODELS
# `plumbline generate` on a run of three updates: the same text from the terminal, from JSON and in
# any batch; what it cannot use ends it with status 2 and a message that names it.
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import threading

program = sys.argv[1]
SMALL = ["--layers", "1", "--heads", "1", "--width", "32", "--length", "16", "--batch", "4"]


def call(*arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode()


def on_terminal(*arguments):
    """What a terminal gets."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen([program, *map(str, arguments)], stdout=theirs)
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 4096):
            shown += data
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert running.wait(60) == 0, arguments
    return shown.replace(b"\r\n", b"\n")


def continuations(*arguments):
    status, out, said = call("generate", *arguments, "--json")
    assert status == 0, said
    return json.loads(out)["continuations"]


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    text, empty = place / "text.txt", place / "empty.txt"
    text.write_text("the quick brown fox jumps over the lazy dog. " * 60)
    empty.write_text("")
    for position in ("cable", "learnable"):
        status, _, said = call("train", text, "--out", place / position, *SMALL, "--updates", 3,
                               "--position", position)
        assert status == 0, said
    cable, learnable = place / "cable", place / "learnable"

    # A text beyond the training context, from the terminal and as JSON.
    asked = [cable, "--prompt", "the quick", "--tokens", 30, "--seed", 7]
    status, shown, said = call("generate", *asked)
    assert status == 0 and said == "", said
    (alone,) = continuations(*asked)
    assert bytes(alone["tokens"]) + b"\n" == shown, (alone, shown)
    assert len(alone["tokens"]) == 30 or alone["end_of_text"]
    assert continuations(*asked[:-1], 8)[0]["tokens"] != alone["tokens"]

    # Several prompts, several samples, in any batch.
    several = [cable, "--prompt", "the quick", "--prompt", "a", "--prompt-file", text, "--tokens",
               5, "--samples", 2, "--top-k", 40, "--top-p", 0.95, "--temperature", 0.8]
    by_one = continuations(*several, "--batch", 1)
    assert [c["prompt"] for c in by_one[::2]] == ["the quick", "a", text.read_text()]
    assert [c["sample"] for c in by_one] == [0, 1] * 3
    assert continuations(*several) == by_one
    status, shown, _ = call("generate", *several)
    assert status == 0 and shown.count(b"== prompt ") == 6
    # A model of bytes that has learned nothing gives control characters and what is no UTF-8.
    for wild in ([cable, "--prompt", "a", "--tokens", 200, "--temperature", 9],
                 [cable, "--prompt", "a", "--tokens", 100, "--temperature", 9, "--samples", 2]):
        status, raw, _ = call("generate", *wild)
        assert status == 0 and any(byte < 32 and byte != 10 for byte in raw), raw
        tamed = on_terminal("generate", *wild)
        assert not any((ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160
                       for c in tamed.decode()), tamed
        assert b"\\x" in tamed, tamed
    # Each is shown when it is complete: the first ones long before the last of a million.
    running = subprocess.Popen([program, "generate", str(cable), "--prompt", "the", "--tokens", "1",
                                "--samples", "1000000"], stdout=subprocess.PIPE)
    patience = threading.Timer(60, running.kill)
    patience.start()
    first = running.stdout.readline()
    patience.cancel()
    running.kill()
    running.communicate()
    assert first == b"== prompt 1, sample 1\n", first
    together = continuations(*several, "--not-deterministic")
    assert [c["prompt"] for c in together] == [c["prompt"] for c in by_one]
    greedy = [cable, "--prompt", "the", "--tokens", 4, "--temperature", 0]
    assert continuations(*greedy, "--seed", 1) == continuations(*greedy, "--seed", 2)
    for number_format in ("bf16", "tf32"):
        continuations(*greedy, "--format", number_format)

    damaged = place / "damaged.safetensors"
    bytes_of_run = bytearray((cable / "checkpoint-00000003.safetensors").read_bytes())
    bytes_of_run[len(bytes_of_run) // 2] ^= 1
    damaged.write_bytes(bytes_of_run)
    prompt = ["--prompt", "the"]
    cases = [
        ([place / "none", *prompt], ["none"]),
        ([place, *prompt], ["which holds no model"]),
        ([damaged, *prompt], ["damaged.safetensors", "SHA-256"]),
        ([text, *prompt], ["text.txt"]),
        ([cable], ["--prompt is missing"]),
        ([cable, "--prompt", ""], ["--prompt is empty"]),
        ([cable, "--prompt-file", empty], ["prompt is empty"]),
        ([cable, "--prompt-file", place / "none.txt"], ["none.txt"]),
        ([cable, *prompt, "--tokens", 0], ["--tokens is 0"]),
        ([cable, *prompt, "--samples", -1], ["--samples is -1"]),
        ([cable, *prompt, "--batch", 0], ["--batch is 0"]),
        ([cable, *prompt, "--temperature", "nan"], ["--temperature is \"nan\"", "a finite number"]),
        ([cable, *prompt, "--temperature", -1], ["--temperature is -1"]),
        ([cable, *prompt, "--top-k", -1], ["--top-k is -1"]),
        ([cable, *prompt, "--top-p", 0], ["--top-p is 0"]),
        ([cable, *prompt, "--seed", -1], ["--seed", "-1"]),
        ([cable, *prompt, "--format", "fp8"], ["--format", "fp8"]),
        ([cable, *prompt, "--tokenizer", text], ["text.txt"]),
        ([cable, *prompt, "--backend", "tpu"], ['"tpu"', "emulated or cuda"]),
        ([learnable, *prompt, "--tokens", 14], ["--tokens is 14", "at most 16 positions"]),
    ]
    failures = []
    for arguments, parts in cases:
        status, _, said = call("generate", *arguments)
        if status != 2 or not all(part in said for part in parts):
            failures.append(f"{' '.join(map(str, arguments))}: status {status}: {said}")
    status, _, said = call("generate", learnable, *prompt, "--tokens", 13)
    if status != 0:
        failures.append(f"a table that is just long enough: status {status}: {said}")
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(cases)} refusals")
