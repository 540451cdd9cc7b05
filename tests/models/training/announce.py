# SPDX-License-Identifier: Apache-2.0
# usage: announce.py PLUMBLINE_MODELS
# A run says at once what it trains and, after its first part, how long it takes; where that is longer
# than it may, it ends before anything is written, and goes on where it is told so.
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

program = sys.argv[1]
SMALL = ["--layers", "1", "--heads", "1", "--width", "32", "--length", "16", "--batch", "4"]


def train(*arguments):
    done = subprocess.run([program, "train", *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


def expect(holds, what):
    if not holds:
        sys.exit(what)


def whole(digits):
    return int(digits.replace(",", ""))


def announced(said):
    """parameters, tokens per update, updates; the rate of the first part, or None"""
    lines = said.splitlines() or [""]
    sizes = re.fullmatch(r"CPU emulation: ([\d,]+) parameters, ([\d,]+) tokens per update, "
                         r"([\d,]+) updates", lines[0])
    expect(sizes is not None, f"it does not say what it trains: {said}")
    for digits in sizes.groups():
        expect(f"{whole(digits):,}" == digits, f"groups of {digits}")
    paced = re.fullmatch(r"([\d,.]+) tokens/s: the first line in [\d,]+ (s|min|h|days), "
                         r"the end in [\d,]+ (s|min|h|days)", lines[1]) if len(lines) > 1 else None
    return [whole(digits) for digits in sizes.groups()], paced and float(paced[1].replace(",", ""))


def parameters_in(checkpoint):
    data = checkpoint.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return sum(math.prod(entry["shape"]) for name, entry in json.loads(data[8:8 + length]).items()
               if not name.startswith(("__", "optimizer.")))


def written(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    text, calm, new = place / "text.txt", place / "calm", place / "new"
    text.write_text("the quick brown fox jumps over the lazy dog. " * 60)
    run = [text, *SMALL, "--position", "cable", "--updates", 3]
    last = "checkpoint-00000003.safetensors"

    status, output, said = train(*run, "--out", calm)
    sizes, rate = announced(said)
    expect(status == 0 and sizes == [parameters_in(calm / last), 64, 3], f"{status}, {said}")
    logged = json.loads((calm / "log.jsonl").read_text().splitlines()[0])["tokens_per_second"]
    # The update's time is its one part's and more; the rate is rounded to a whole number.
    expect(rate is not None and rate + 0.5 >= logged, f"{rate} tokens/s, the log has {logged}")
    expect(output.splitlines()[0].startswith("update      1 of 3 "), f"no first line: {output}")

    # Longer than it may: nothing is there, and the same command goes on where it may.
    status, output, said = train(*run, "--out", new, "--hours-at-most", 0)
    expect(status == 2 and announced(said)[1] is not None and
           "plumbline: --hours-at-most is 0; expected at least 1, the hours that" in said and
           "Nothing was written" in said and output == "", f"{status}, {output}, {said}")
    expect(written(new) == {}, f"it wrote {sorted(written(new))}")
    status, _, said = train(*run, "--out", new, "--hours-at-most", 1)
    expect(status == 0 and written(new)[last] == written(calm)[last], f"{status}, {said}")
    # Days, by default; of a run that is resumed, what is left counts.
    before = written(new)
    long = 10**10
    status, _, said = train(*run[:-1], long, "--out", new, "--resume")
    asked = re.search(r"--hours-at-most is 24; expected at least (\d+), the hours .* \(([\d,]+) days\)",
                      said)
    expect(status == 2 and asked is not None and written(new) == before, f"{status}, {said}")
    sizes, rate = announced(said)
    expect(sizes[2] == long, said)
    hours, tokens = int(asked[1]), long * 64
    # Hours are rounded up, the rate to half a token/s; three updates are made, one is at hand.
    expect(abs(hours * 3600 * rate / tokens - 1) <= 2 / hours + 1 / rate + 4 / long,
           f"{hours} h at {rate} tokens/s are not {tokens} tokens")
    expect(abs(whole(asked[2]) * 24 - hours) <= 13, f"{asked[2]} days are not {hours} hours")

    # Standard output is the report's.
    status, output, said = train(*run, "--out", place / "report", "--json")
    report = json.loads(output)
    expect(status == 0 and (report["device"], report["parameters"], report["tokens_per_update"]) ==
           ("CPU emulation", announced(said)[0][0], 64), f"{status}, {output}, {said}")

    # A query, a positive and two hard negatives each.
    pairs = place / "pairs.jsonl"
    pairs.write_text("".join(f'{{"query": "what is {n}", "positive": "{n} it is"}}\n'
                             for n in range(48)))
    status, _, said = train("--objective", "contrastive", "--preset", "bert_base", "--pairs", pairs,
                            "--out", place / "contrast", *SMALL, "--hard-negatives", 2, "--updates", 2)
    sizes, rate = announced(said)
    expect(status == 0 and sizes[1:] == [4 * 4 * 16, 2] and rate is not None, f"{status}, {said}")
    print(f"{rate} tokens/s")
