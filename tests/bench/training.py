#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training GPT-2 on the CUDA path, beside the same model in PyTorch in the same run.

On a GPU: GPT-2 small, T = 1024, bf16; without one, or with --backend emulated, nano in fp32, which
shows that the benchmark works and nothing else. Every row is a process of its own: `plumbline train`,
or torch_training.py, which begins with the same weights and reads the same tokens."""
import argparse
import array
import datetime
import json
import os
import pathlib
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import threading

POSITIONS = ["nope", "cable", "ggd"]
ON_GPU = {"preset": "gpt2_small", "dtype": "bf16", "length": 1024, "rows": 64, "updates": 30,
          "warm_up": 10, "tokenizer": "gpt2", "vocabulary": 50257}
EMULATED = {"preset": "nano", "dtype": "fp32", "length": 64, "rows": 2, "updates": 4,
            "warm_up": 1, "tokenizer": "byte", "vocabulary": 256}
GIB = 2**30


def say(text):
    print(f"plumbline: {text}", file=sys.stderr, flush=True)


class Gpu:
    """The first GPU that CUDA may use, as nvidia-smi sees it: it counts both sides' memory alike."""
    memory = "that of the device while the process ran, less what was in use before"
    number = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]

    def __init__(self):
        try:
            self.name, _ = self.ask("name"), self.used()
        except (OSError, ValueError, subprocess.CalledProcessError) as why:
            say(f"--backend cuda: no GPU here (nvidia-smi, which comes with its driver: {why})")
            sys.exit(3)

    def ask(self, field):
        return subprocess.run(
            ["nvidia-smi", "-i", self.number, f"--query-gpu={field}",
             "--format=csv,noheader,nounits"],
            check=True, capture_output=True, text=True).stdout.strip()

    def used(self):
        return int(self.ask("memory.used")) * 2**20

    def run(self, command, errors, output):
        """Exit status, and the most memory held above what was held before. What either side
        allocates it keeps to its end, some seconds later, so that looking now and then will do."""
        before, seen, ended = self.used(), [], threading.Event()

        def watch():
            while not ended.wait(0.3):
                seen.append(self.used())

        watcher = threading.Thread(target=watch)
        watcher.start()
        environment = {**os.environ, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}  # as nvidia-smi counts
        status = subprocess.run(command, stdout=output, stderr=errors, env=environment).returncode
        ended.set()
        watcher.join()
        return status, max(seen, default=before) - before


class Emulation:
    name = "CPU emulation"
    memory = "the process's"

    def run(self, command, errors, output):
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_maxrss * 1024


def write_shard(path, sizes):
    """Tokens drawn by Zipf's law: what they say makes no difference to the time, how often an
    embedding is met does."""
    count = int(1.25 * sizes["updates"] * sizes["rows"] * sizes["length"]) + 20 * sizes["length"]
    weights = [1 / rank for rank in range(1, sizes["vocabulary"] + 1)]
    tokens = array.array("H", random.Random(1).choices(range(sizes["vocabulary"]), weights, k=count))
    if sys.byteorder == "big":
        tokens.byteswap()
    path.write_bytes(struct.pack("<3i", 20240520, 1, count).ljust(1024, b"\0") + tokens.tobytes())


def parameters_in(checkpoint):
    """How many numbers a checkpoint's parameters have."""
    with open(checkpoint, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    spans = [entry["data_offsets"] for name, entry in header.items()
             if name.startswith("transformer.")]
    return sum(end - begin for begin, end in spans) // 4


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.on_gpu = options.backend == "cuda"
        self.device = Gpu() if self.on_gpu else Emulation()
        self.sizes = dict(ON_GPU if self.on_gpu else EMULATED)
        for size in ("rows", "updates"):
            self.sizes[size] = getattr(options, size) or self.sizes[size]
        if self.sizes["updates"] <= self.sizes["warm_up"]:
            say(f"--updates is {self.sizes['updates']}; expected more than the "
                f"{self.sizes['warm_up']} of the warm-up")
            sys.exit(2)
        self.shard = folder / "tokens.bin"
        write_shard(self.shard, self.sizes)
        self.ceiling = None
        self.rows = []

    def run(self, command):
        """Exit status, standard output, standard error, peak memory."""
        with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as output:
            status, memory = self.device.run([str(word) for word in command], errors, output)
            errors.seek(0)
            output.seek(0)
            return status, output.read(), errors.read(), memory

    def peer(self, *words):
        python = "python3" if self.on_gpu else sys.executable  # the GPU's machine has its own PyTorch
        script = pathlib.Path(__file__).with_name("torch_training.py")
        return self.run([python, "-B", script, "cuda" if self.on_gpu else "cpu", *words])

    def measure_ceiling(self):
        status, output, errors, _ = self.peer("ceiling")
        if status == 0:
            self.ceiling = json.loads(output)
        else:
            say(f"no PyTorch in this run: {last_line(errors)}")

    def train(self, position, deterministic):
        """A row of ours, and the folder of its run."""
        sizes, out = self.sizes, self.folder / f"{position}-{deterministic}"
        say(f"{position}{', deterministic' if deterministic else ''}")
        status, _, errors, memory = self.run(
            [self.options.program, "train", self.shard, "--out", out, "--backend",
             self.options.backend, "--preset", sizes["preset"], "--position", position, "--format",
             sizes["dtype"], "--tokenizer", sizes["tokenizer"], "--length", sizes["length"],
             "--batch", sizes["rows"], "--part", sizes["rows"], "--updates", sizes["updates"],
             "--warm-up", 0, "--sequential", "--keep", 2, "--evaluation-rows", sizes["rows"]]
            + ([] if deterministic else ["--not-deterministic"]))
        if status != 0:
            sys.stderr.write(errors)
            if self.on_gpu:
                say("fewer --rows need less memory")
            sys.exit(status if status in (1, 2, 3) else 3)
        log = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
        timed = [line["tokens_per_second"] for line in log[sizes["warm_up"]:]]
        self.add(position, "plumbline", deterministic, memory, out, {
            "tokens_per_second": statistics.median(timed), "loss": log[0]["loss"],
            "gradient_norm": log[0]["norm"]})
        return out

    def train_peer(self, position, run):
        say(f"{position}, PyTorch")
        status, output, errors, memory = self.peer(run, self.shard, self.sizes["updates"],
                                                   self.sizes["warm_up"])
        if status != 0:
            say(f"PyTorch, {position}: {last_line(errors)}")
            self.rows.append({"position": position, "by": "pytorch", "deterministic": False,
                              "failure": last_line(errors)})
        else:
            self.add(position, "pytorch", False, memory, run, json.loads(output))

    def add(self, position, by, deterministic, memory, run, measured):
        model = json.loads((run / "run.json").read_text())["model"]
        flops = (6 * parameters_in(run / "checkpoint-00000000.safetensors")
                 + 12 * model["layers"] * model["width"] * self.sizes["length"])
        ceiling = self.ceiling and measured["tokens_per_second"] * flops / self.ceiling["flops"]
        self.rows.append({"position": position, "by": by, "deterministic": deterministic,
                          **measured, "peak_memory": memory, "flops_per_token": flops,
                          "share_of_ceiling": ceiling})

    def measure(self):
        self.measure_ceiling()
        for position in POSITIONS:
            run = self.train(position, False)
            if self.ceiling:
                self.train_peer(position, run)
            shutil.rmtree(run)
            shutil.rmtree(self.train(position, True))
        for row in self.rows:
            for name, other in (("times_pytorch", ("pytorch", False, row["position"])),
                                ("times_own_nope", (row["by"], row["deterministic"], "nope"))):
                row[name] = ratio(row, other, self.rows)

    def json(self):
        return {"format": "plumbline-bench-training-1", "date": str(datetime.date.today()),
                "backend": self.options.backend, "device": self.device.name, **self.sizes,
                "ceiling": self.ceiling, "results": self.rows}

    def text(self):
        s = self.sizes
        lines = [f"# Training {s['preset']} on {self.device.name}", "",
                 f"{datetime.date.today()}, made by `./plumbline bench training`: T = {s['length']}, "
                 f"{s['rows']} sequences an update, all at once, {s['dtype']}; median of "
                 f"{s['updates'] - s['warm_up']} updates after {s['warm_up']}."]
        if self.ceiling:
            c = self.ceiling
            lines += ["", f"The ceiling of the same run is a matrix product in {s['dtype']} "
                      f"of {c['size']} by PyTorch {c['torch']}: {c['flops'] * 1e-12:.4g} TFLOP/s."]
        lines += ["", "| position | | tokens/s | of the ceiling | peak memory, GiB | times PyTorch "
                  "| times its own nope | first loss | first gradient norm |",
                  "|---|---|---|---|---|---|---|---|---|"]
        return "\n".join(lines + [line_of(row) for row in self.rows]) + NOTES.format(
            memory=self.device.memory, pytorch=ON_GPU_BY if self.on_gpu else "eager, in fp32")


ON_GPU_BY = "bf16 autocast over fp32 weights, SDPA, fused AdamW, torch.compile"
NOTES = """

- A token costs 6 N + 12 L C T operations forward and backward (Chowdhery et al., arXiv:2204.02311,
  appendix B): N parameters with the embedding, which is also the head; all T x T scores, of which a
  causal kernel needs half.
- An update is everything from the tokens in host memory to the new weights. Peak memory is {memory}.
- PyTorch: {pytorch}. CABLE's and GGD's biases are tensors there, computed from their parameters.
- Both sides begin with the same weights and tokens: loss and gradient norm of the first update tell
  whether they train the same model.
"""


def last_line(text):
    return (text.strip().splitlines() or ["it said nothing"])[-1]


def ratio(row, other, rows):
    """Speed over that of another row, None where either is missing."""
    for peer in rows:
        if (peer["by"], peer["deterministic"], peer["position"]) == other:
            if "failure" in row or "failure" in peer:
                return None
            return row["tokens_per_second"] / peer["tokens_per_second"]
    return None


def line_of(row):
    name = {"plumbline": "Plumbline", "pytorch": "PyTorch"}[row["by"]]
    name += ", deterministic" if row["deterministic"] else ""
    if "failure" in row:
        return f"| {row['position']} | {name} | {row['failure']} | | | | | | |"
    short = lambda value, form: "-" if value is None else format(value, form)
    return (f"| {row['position']} | {name} | {row['tokens_per_second']:.0f} "
            f"| {short(row['share_of_ceiling'], '.3f')} | {row['peak_memory'] / GIB:.2f} "
            f"| {short(row['times_pytorch'], '.2f')} | {short(row['times_own_nope'], '.2f')} "
            f"| {row['loss']:.6f} | {row['gradient_norm']:.5f} |")


def options():
    gpu = any(os.path.exists(path) for path in ("/dev/nvidiactl", "/dev/dxg"))
    parser = argparse.ArgumentParser(prog="plumbline bench training", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help=argparse.SUPPRESS)
    parser.add_argument("report", help=argparse.SUPPRESS)
    parser.add_argument("--backend", choices=["cuda", "emulated"],
                        default="cuda" if gpu else "emulated",
                        help="default: cuda where there is a GPU")
    parser.add_argument("--rows", type=int, help="sequences of an update")
    parser.add_argument("--updates", type=int, help="of a run, warm-up among them")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON, too")
    return parser.parse_args()


def main():
    asked = options()
    with tempfile.TemporaryDirectory(prefix="plumbline-bench-") as folder:
        bench = Bench(asked, pathlib.Path(folder))
        bench.measure()
    text = bench.text()
    print(text)
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(bench.json(), indent=2) + "\n")
    if not bench.on_gpu:
        print("Toy size under emulation: the benchmark works; its figures mean nothing and are not "
              "kept.")
        return
    pathlib.Path(asked.report).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(asked.report).write_text(text)
    print(f"written to {asked.report}")


if __name__ == "__main__":
    main()
