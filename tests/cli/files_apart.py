# SPDX-License-Identifier: Apache-2.0
"""usage: files_apart.py PLUMBLINE KERNELS

No command writes over what it reads, nor two results into one file: every command, every option
that writes, every file that is read, by its name, through a link and through a hard link. Each call
ends with status 2 and a sentence that names the option, and changes no file."""
import itertools
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

program, kernels = sys.argv[1:]
failures = []
CASE = "bias=nope,dtype=fp32,heads=1,kv_heads=1,queries=4,keys=4,head_dim=32"
NANO = ["--layers", 1, "--heads", 1, "--width", 32, "--batch", 2, "--updates", 1]


def run(*arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          errors="replace", timeout=120, cwd=place, stdin=subprocess.DEVNULL)


def right(*arguments):
    done = run(*arguments)
    if done.returncode != 0:
        sys.exit(f"{arguments}: status {done.returncode}: {done.stderr}")


def state():
    return {path: path.read_bytes() if path.is_file() else None
            for path in pathlib.Path(place).rglob("*")}


def refused(said, *arguments):
    done = run(*arguments)
    now = state()
    changed = [str(p.relative_to(place)) for p in before.keys() | now.keys()
               if before.get(p, 0) != now.get(p, 0)]
    if done.returncode != 2 or changed or not all(s in done.stderr for s in said):
        failures.append(f"{' '.join(map(str, arguments))}: status {done.returncode}, changed "
                        f"{changed}, said: {done.stderr}")
        for path in now.keys() - before.keys():
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for path, content in before.items():
            if content is not None:
                path.write_bytes(content)


def tensors(path, **floats):
    """A safetensors file of zeros in the shapes given."""
    header, at = {}, 0
    for name, shape in floats.items():
        size = 4 * eval("*".join(map(str, shape)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(at))


def as_helped(command):
    """From a command's help: the options that write, and those of texts that are no files."""
    writes, texts = set(), set()
    for line in run(*command, "--help").stdout.splitlines():
        found = re.match(r"  (--[a-z-]+|[a-z]+) (\[FILE\]|FILE\b|DIR\b|TEXT\b)", line)
        if found:
            (texts if found[2] == "TEXT" else writes).add(found[1])
    return writes, texts


def check(command, base, outputs, inputs, texts=(), others=()):
    """`base`: arguments with which the command would do its work. `outputs`: its options that write
    ("output" is a positional one, and --html takes a folder), `others` those that `base` has.
    `inputs`: files that it reads. `texts`: options that take a text and name no file."""
    writes, helped = as_helped(command)
    if writes != {*outputs, *others} or helped != set(texts):
        failures.append(f"{command}: the help has {sorted(writes)} that write and {sorted(helped)} "
                        "that are no files, and not those that are tried here")

    def given(option, path):
        return [path] if option == "output" else [option, path]

    for option, path in itertools.product(outputs, inputs):
        if option == "--html":
            (place / "page").mkdir(exist_ok=True)
            os.link(path, place / "page" / "index.html")
            before[place / "page"], before[place / "page/index.html"] = None, path.read_bytes()
            refused(["--html", "which is read"], *command, *base, "--html", place / "page")
            (place / "page" / "index.html").unlink()
            (place / "page").rmdir()
            for gone in (place / "page", place / "page/index.html"):
                del before[gone]
            continue
        refused([option, "is read", path.name], *command, *base, *given(option, path))
    for option in (o for o in outputs if o != "--html" and inputs):
        (place / "link").symlink_to(inputs[0])
        os.link(inputs[0], place / "hard")
        for name in ("link", "hard"):
            before[place / name] = inputs[0].read_bytes()
        for name in ("link", "hard"):
            refused([option, "is read", name], *command, *base, *given(option, name))
        for name in ("link", "hard"):
            (place / name).unlink()
            del before[place / name]
    for one, other in itertools.combinations(outputs, 2):
        if "--html" in (one, other):
            (place / "page").mkdir(exist_ok=True)
            before[place / "page"] = None
        same = {o: place / "page" / "index.html" if "--html" in (one, other) else "new"
                for o in (one, other)}
        same["--html"] = place / "page"
        refused([one, other, "two files"], *command, *base, *given(one, same[one]),
                *given(other, same[other]))


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder).resolve()
    kernel = pathlib.Path(shutil.copy(kernels, place / "k.so"))
    right("vectors", place / "cases", "--case", CASE)
    (case,) = (place / "cases").glob("*.safetensors")
    outputs = place / "outputs.safetensors"
    tensors(outputs, o=[1, 1, 4, 32], lse=[1, 1, 4])
    golden = place / "golden"
    golden.mkdir()
    shutil.copy(pathlib.Path(__file__).parents[2] / "golden" / "manifest.json", golden)
    shutil.copytree(pathlib.Path(__file__).parents[2] / "golden" / "vectors", golden / "vectors")
    text = place / "text.txt"
    text.write_text("the quick brown fox jumps over the lazy dog. " * 40)
    pairs = place / "pairs.jsonl"
    pairs.write_text('{"query": "a", "positive": "b"}\n' * 8)
    task = place / "task"
    (task / "qrels").mkdir(parents=True)
    for name in ("corpus", "queries"):
        (task / f"{name}.jsonl").write_text('{"_id": "1", "text": "a"}\n')
    (task / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\t1\t1\n")
    runs = {}
    for name, more in (("gpt", ["--length", 16]), ("bert", ["--preset", "bert_base", "--length", 8,
                                                            "--vocabulary", 261])):
        right("train", text, "--out", place / name, *NANO, *more)
        runs[name] = place / name
    gpt, bert = runs["gpt"], runs["bert"]
    of_gpt = [max(gpt.glob("*.safetensors")), gpt / "run.json"]
    of_bert = [max(bert.glob("*.safetensors")), bert / "run.json"]
    of_task = [task / "corpus.jsonl", task / "queries.jsonl", task / "qrels" / "test.tsv"]
    bias = place / "bias.json"
    bias.write_text('{"formula": "i - j"}')
    before = state()

    check(["verify"], ["--kernel", kernel, "--kernels", "right", "--bias-file", bias, "--case", CASE],
          ["--json", "--junit", "--sarif", "--html"], [kernel, bias],
          ["--seed", "--kernels", "--case", "--shard", "--backend", "--device"])
    check(["identities"], ["--kernel", kernel, "--bias", "nope", "--keys", 8], ["--json"], [kernel],
          ["--seed", "--kernels", "--backend", "--device"])
    check(["judge"], [case, outputs], ["--json", "--junit", "--html"], [case, outputs])
    check(["oracle"], [case], ["output"], [case])
    check(["claims"], ["alibi"], ["--json", "--junit", "--markdown", "--html"], [], ["ids"])
    check(["profile"], ["--kernel", kernel, "--case", CASE], ["--json"], [kernel])
    refused(["--json", "is read", "k.so"], "profile", "--json", kernel, kernel)
    check(["golden", "check"], [golden], ["--json", "--junit"],
          [golden / "manifest.json", golden / "vectors" / "alibi.json"])
    check(["methods"], [golden, "--oracle-only"], ["--json"],
          [golden / "manifest.json", golden / "vectors" / "alibi.json"])
    check(["tokenize"], [text, "--out", "shard.bin"], ["--json"], [text], ["--separator", "--seed"],
          ["--out"])
    for path in (text, pairs):
        refused(["--out", "which is read", "texts"], "tokenize", text, pairs, "--out", path)
    refused(["--json and --html", "two files"], "verify", "--json", "both", "--html", "both")
    refused(["--out and --json", "two files"], "tokenize", text, "--out", "new", "--json", "new")
    refused(["--json", "which is read", "--tokenizer"], "tokenize", text, "--out", "new",
            "--tokenizer", pairs, "--json", pairs)
    train = [text, "--out", place / "new", *NANO, "--length", 16]
    check(["train"], train, ["--json"], [text],
          ["--out", "--preset", "--position", "--prior-start", "--format", "--separator",
           "--optimizer", "--seed", "--objective", "--pooling", "--backend"])
    for path in of_gpt:
        refused(["--json", "is read", "--from"], "train", *train, "--from", gpt, "--json", path)
    refused(["--json", "which is read", "--pairs"], "train", "--objective", "contrastive",
            "--pairs", pairs, "--from", bert, "--out", place / "new", "--json", pairs)
    for name in ("run.json", "log.jsonl", "loss.svg", "checkpoint-00000001.safetensors"):
        refused(["--json", "the run itself writes", name], "train", *train, "--json",
                place / "new" / name)
    check(["generate"], [gpt, "--prompt-file", text, "--tokens", 1], ["--json"], [text, *of_gpt],
          ["--seed", "--backend", "--prompt", "--format"])
    check(["evaluate", "perplexity"], [gpt, "--data", text, "--lengths", 8], ["--json", "--svg"],
          [text, *of_gpt], ["--backend", "--separator"])
    check(["evaluate", "curves"], [gpt], [], [], ["--out"])
    check(["evaluate", "maps"], [gpt, "--data", text, "--out", place / "new"], ["--json"],
          [text, *of_gpt], ["--backend", "--text", "--out"])
    refused(["--json and --out", "two files"], "evaluate", "maps", gpt, "--text", "a", "--out",
            place, "--json", place / "attention-layer-0.svg")
    check(["evaluate", "cost"], ["--lengths", 16], ["--json"], [],
          ["--backend", "--preset", "--out"])
    refused(["--json and --out", "two files"], "evaluate", "cost", "--lengths", 16, "--out", place,
            "--json", place / "token.svg")
    check(["evaluate", "retrieval"], [bert, "--task", task], ["--json", "--svg", "--mine"],
          [*of_task, *of_bert], ["--backend", "--split", "--pooling"])
    check(["evaluate", "passkey"], [gpt, "--lengths", 8], ["--json", "--svg"], of_gpt,
          ["--seed", "--backend"])
    check(["evaluate", "needles"], [gpt, "--essay", text], ["--json", "--svg"], [text, *of_gpt],
          ["--seed", "--backend"])

    # An earlier report in a run's folder is written over.
    right("generate", gpt, "--prompt", "a", "--tokens", 1, "--json", gpt / "texts.json")
    right("generate", gpt, "--prompt", "b", "--tokens", 1, "--json", gpt / "texts.json")
    if '"b"' not in (gpt / "texts.json").read_text():
        failures.append("an earlier report was not written over")
    # A result may go into a file beside what is read, and several to /dev/null.
    (place / "prompt").write_text("a")
    right("generate", gpt, "--prompt-file", place / "prompt", "--tokens", 1, "--json",
          place / "texts.json")
    done = run("judge", case, outputs, "--json", "/dev/null", "--junit", "/dev/null")
    if done.returncode != 1:
        failures.append(f"two results to /dev/null: {done.stderr}")

if failures:
    sys.exit("\n".join(failures))
