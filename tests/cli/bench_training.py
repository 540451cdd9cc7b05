# SPDX-License-Identifier: Apache-2.0
"""`bench training` at toy size: every row is there, both sides train the same model, and what has no
GPU says so. Usage: bench_training.py BENCH PROGRAM; ends with 77 where PyTorch is missing."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

if importlib.util.find_spec("torch") is None:
    print("PyTorch is missing")
    sys.exit(77)

bench, program = sys.argv[1:3]


def run(*options, **more):
    return subprocess.run([sys.executable, "-B", bench, program, "unused", *options],
                          capture_output=True, text=True, **more)


# Both sides' figures are in fp32, rounded by 2^-24 at every operation. From weights and tokens to the
# norm they pass through sums after sums of at most 261 terms, fewer than 2^10 operations in a row on
# either side; first order, in numbers that are not larger than their sums.
bound = 2 * 2**10 * 2**-24


def near(a, b):
    return abs(a - b) <= bound * abs(b)


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "out.json"
    ran = run("--backend", "emulated", "--updates", "2", "--json", path)
    assert ran.returncode == 0, ran.stderr
    report = json.loads(path.read_text())
assert (report["format"], report["device"]) == ("plumbline-bench-training-1", "CPU emulation")
assert "its figures mean nothing" in ran.stdout
rows = {(row["position"], row["by"], row["deterministic"]): row for row in report["results"]}
assert len(rows) == len(report["results"]) == 9, report["results"]
for (position, by, deterministic), row in rows.items():
    assert f"| {position} | " in ran.stdout
    theirs, own_nope = rows[position, "pytorch", False], rows["nope", by, deterministic]
    speed = row["tokens_per_second"]
    assert speed > 0 and row["peak_memory"] > 0
    assert row["times_pytorch"] == speed / theirs["tokens_per_second"]
    assert row["times_own_nope"] == speed / own_nope["tokens_per_second"]
    assert row["share_of_ceiling"] == speed * row["flops_per_token"] / report["ceiling"]["flops"]
    for figure in ("loss", "gradient_norm"):
        assert near(row[figure], theirs[figure]), (position, figure, row[figure], theirs[figure])
# nano: the embedding, two layers of weights, biases and norms, the last norm.
N = 261 * 64 + 2 * (4 * 64 + 65 * 192 + 65 * 64 + 65 * 256 + 257 * 64) + 2 * 64
assert rows["nope", "plumbline", True]["flops_per_token"] == 6 * N + 12 * 2 * 64 * 64
# The bound would notice another method's bias.
norms = [rows[position, "pytorch", False]["gradient_norm"] for position in ("nope", "cable", "ggd")]
assert not any(near(norms[a], norms[b]) for a, b in ((0, 1), (0, 2), (1, 2))), norms

no_gpu = run("--backend", "cuda", env={**os.environ, "PATH": ""})
assert no_gpu.returncode == 3 and "no GPU here" in no_gpu.stderr, no_gpu
few = run("--backend", "emulated", "--updates", "1")
assert few.returncode == 2 and "--updates is 1" in few.stderr, few
