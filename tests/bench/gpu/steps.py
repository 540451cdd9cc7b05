# SPDX-License-Identifier: Apache-2.0
"""The steps: what runs, in the order of its worth. A step has parts, a process each; the parts of long
steps are shards, so that a time limit loses one of them."""
import dataclasses
import os
import pathlib
import shutil
import sys

import machine

NAMES = ["environment", "verify", "verify-many", "identities", "instructions", "mutants", "sanitizers",
         "operations", "row-operations", "training-step", "decoding", "ranks", "bench-attention", "bench-training", "train"]
BENCH = pathlib.Path(__file__).resolve().parent.parent
# Those of the target check_row_ops_on_gpu (tests/gpu/cuda/CMakeLists.txt), one at a time: the target
# ends with the first that fails.
ROW_OPERATIONS = ["cross_entropy", "embedding", "head_gate", "layernorm", "linear_cross_entropy",
                  "prefix_sum", "rmsnorm", "row_products"]
RANK_UPDATES = 4
SHARDS = 8  # of what each of compute-sanitizer's tools watches


@dataclasses.dataclass
class Part:
    name: str
    command: list
    limit: float  # seconds; None: its share of what is left
    least: int = 5  # with fewer seconds left it is not begun
    clear: list = ()  # results of before, which are removed first
    slow: bool = False  # its limit tells nothing of what it checks


@dataclasses.dataclass
class Step:
    name: str
    what: str  # one line for the report
    parts: list = ()
    targets: list = ()  # of the build, that its parts need; none: it needs no build
    why_not: str = ""  # no part of it can run


# As in tests/verdict/huge_arrays.py.
HUGE = ("bias=nope,dtype=bf16,heads=65,kv_heads=65,queries=2,keys=131072,head_dim=256,value_dim=8,"
        "query_offset=131070,seed=1")


def build_part(step, build):
    """The build of what a step needs; Ninja goes on where it was ended."""
    return Part("build", ["flock", build.parent / ".build-lock", "ninja", "-C", build, "-j",
                          len(os.sched_getaffinity(0)), *step.targets], 3600)


def make(asked, gpus):
    """All steps of a run with the options asked, on a machine with so many GPUs."""
    return Maker(asked, gpus).steps()


class Maker:
    def __init__(self, asked, gpus):
        self.asked, self.toy, self.gpus = asked, asked.toy, gpus
        self.results, self.work = asked.out / "results", asked.out / "work"
        self.program = asked.programs / "plumbline"
        self.backend = ["--backend", "emulated" if self.toy else "cuda"]
        self.kernels = ["program"] if self.toy else ["program", "plumbline_kernels_cuda"]
        self.models = ["models"] if self.toy else ["models", "plumbline_models_cuda_program"]

    def steps(self):
        return [self.environment(), self.verify(), self.verify_many(), self.identities(), self.instructions(),
                self.mutants(), self.sanitizers(), self.operations(), self.row_operations(),
                self.training_step(), self.decoding(), self.ranks(), self.bench_attention(), self.bench_training(), self.train()]

    def environment(self):
        command = [sys.executable, "-B", BENCH / "gpu/machine.py"] + (["--toy"] if self.toy else [])
        return Step("environment", "the machine", [Part("facts", command, 300)])

    def judged(self, part, result, *words, command="verify", slow=False):
        path = self.results / f"{result}.json"
        return Part(part, [self.program, command, *self.backend, *words, "--json", path], 1200,
                    clear=[path], slow=slow)

    def verify(self):
        cases = (["--kernels", "fused", "--pass", "forward", "--bias", "alibi", "--dtype", "fp32",
                  "--cases", 4] if self.toy else ["--all"])
        parts = [self.judged("all", "verify-all", *cases)]
        if not self.toy:
            parts.append(self.judged("k of more than 2^31 elements", "verify-huge", "--kernels", "naive", "--case", HUGE))
        return Step("verify", "every built-in kernel against the oracle", parts, self.kernels)

    def verify_many(self):
        shards = 2 if self.toy else 20
        cases = (["--kernels", "fused", "--bias", "cable", "--dtype", "fp32", "--cases", 8] if self.toy
                 else ["--cases", 20000])
        parts = [self.judged(f"shard {n} of {shards}", f"verify-many-{n}", *cases, "--seed", 2, "--shard",
                             f"{n}/{shards}") for n in range(1, shards + 1)]
        return Step("verify-many", f"{cases[-1]:,} cases of another seed, in shards", parts, self.kernels)

    def identities(self):
        keys = 64 if self.toy else 524288
        less = ["--bias", "alibi"] if self.toy else []
        parts = [self.judged(f"{of_pass} {dtype}", f"identities-{of_pass}-{dtype}", "--keys", keys, "--pass",
                             of_pass, "--dtype", dtype, *less, command="identities", slow=True)
                 for of_pass in ("forward", "backward") for dtype in ("bf16", "fp32", "fp16", "tf32")]
        return Step("identities", f"kernels' runs compared with each other, {keys:,} keys",
                    parts[:1] if self.toy else parts, self.kernels)

    def instructions(self):
        where = ["--family", "control"] if self.toy else ["--device", "cuda"]
        return Step("instructions", "every instruction form of PTX, bit by bit, as the software device has it",
                    [Part("forms", [self.asked.programs / "device_conformance", *where], 1800)],
                    ["device_conformance"])

    def mutants(self):
        shards = 1 if self.toy else SHARDS
        chosen = (["-R", "^mutant_bias_sign_is_caught_by_verdict$"] if self.toy else
                  ["-L", "^mutants_on_gpu$", "--parallel", len(os.sched_getaffinity(0))])
        ctest = ["ctest", "--test-dir", self.asked.programs.parent, "--output-on-failure", "--no-tests=error"]
        targets = ["program", "plumbline_check_one_head_dim"]
        return Step("mutants", "faults planted in the CUDA kernels: the verdict catches each",
                    [Part(f"shard {n} of {shards}", [*ctest, *chosen, "-I", f"{n},,{shards}"], 900)
                     for n in range(1, shards + 1)],
                    targets + ([] if self.toy else ["plumbline_kernels_for_software"]))

    def training_step(self):
        suffix = "" if self.toy else "_cuda"
        programs = {"gpt2": ["--run_test=gpt2_learned_test"] if self.toy else [],
                    "steps": ["--run_test=bert_test", "--run_test=llama_style_test",
                              "--run_test=formats_test/*_in_bf16_and_tf32"]}
        names = {group: f"test_models_{group}{suffix}" for group in programs}
        parts = [Part(names[group], [self.asked.programs / names[group], *words], 900)
                 for group, words in programs.items()]
        if not self.toy:
            names["graph"] = "training_graph_cuda"
            parts.append(Part(names["graph"], [self.asked.programs / names["graph"]], 600))
        return Step("training-step", "training steps of small models of GPT-2, BERT and the decoder against the "
                    "oracle; steps as CUDA graphs", parts[:1] if self.toy else parts, list(names.values()))

    def decoding(self):
        about = "decoding by small models against the oracle; a token as one CUDA graph"
        if self.toy:
            return Step("decoding", about, [Part("test_decoders", [
                self.asked.programs / "test_decoders", "--run_test=decoder_content_test"], 600)], ["test_decoders"])
        names = ["test_decoders_cuda", "token_graph_cuda"]
        return Step("decoding", about, [Part(name, [self.asked.programs / name], 600) for name in names], names)

    def sanitizers(self):
        step = Step("sanitizers", "compute-sanitizer over one case a cell (`--cases 42`), in shards",
                    targets=self.kernels)
        if self.toy:
            step.why_not = "compute-sanitizer watches a GPU, and this is the emulation"
            return step
        sanitizer = machine.tool("compute-sanitizer") or "compute-sanitizer"
        # The first shard by all tools comes first.
        step.parts = [Part(f"{tool} {n} of {SHARDS}",
                           [sanitizer, "--tool", tool, "--target-processes", "all", "--error-exitcode", 9,
                            self.program, "verify", *self.backend, "--cases", 42, "--shard", f"{n}/{SHARDS}"],
                           300, slow=True)
                      for n in range(1, SHARDS + 1)
                      for tool in ("memcheck", "racecheck", "synccheck", "initcheck")]
        return step

    def operations(self):
        name = "ops_on_device" if self.toy else "cuda_ops"
        return Step("operations", "operations of a training step within their bounds",
                    [Part(name, [self.asked.programs / name], 600)], [name])

    def row_operations(self):
        prefix = "test_op_" if self.toy else "cuda_op_"
        names = [prefix + name for name in ROW_OPERATIONS]
        return Step("row-operations", "norms, embeddings, loss, prefix sums against the oracle",
                    [Part(name, [self.asked.programs / name], 600) for name in names], names)

    def ranks(self):
        step = Step("ranks", "two ranks, one GPU each by NCCL: the same weights, byte for byte, as one's",
                    targets=self.models)
        if not self.toy and self.gpus < 2:
            step.why_not = "two GPUs are needed"
            return step
        text = self.work / "ranks.txt"
        text.write_text(" ".join(map(str, range(20000))))
        runs = {ranks: self.work / f"ranks-{ranks}" for ranks in (1, 2)}
        train = [self.program, "train", text, *self.backend, "--position", "cable", "--length", 16,
                 "--batch", 7, "--part", 1, "--updates", RANK_UPDATES, "--warm-up", 1, "--out"]
        mpirun = [shutil.which("mpirun") or "mpirun", "--bind-to", "none", "-n", 2]
        step.parts = [Part("one rank", [*train, runs[1]], 300, clear=[runs[1]]),
                      Part("two ranks", [*mpirun, *train, runs[2]], 300, clear=[runs[2]]),
                      Part("the same weights",
                           ["cmp", *(runs[n] / f"checkpoint-{RANK_UPDATES:08}.safetensors" for n in (1, 2))],
                           60)]
        return step

    def bench_attention(self):
        table = self.results / "attention-kernels.md"
        command = [sys.executable, "-B", BENCH / "attention_kernels.py",
                   self.asked.programs / "plumbline_bench_attention_kernels",
                   self.asked.programs.parent / "lib", table]
        return Step("bench-attention", "speed of the attention kernels, beside PyTorch's where it is",
                    [Part("attention", command + (["--emulated"] if self.toy else []), 3600,
                          5 if self.toy else 120, [table], slow=True)],
                    [*self.kernels, "plumbline_bench_attention_kernels"])

    def bench_training(self):
        results = [self.results / "training.md", self.results / "training.json"]
        command = [sys.executable, "-B", BENCH / "training.py", self.program, results[0], *self.backend,
                   "--json", results[1]]
        return Step("bench-training", "speed of training GPT-2 small, beside PyTorch's where it is",
                    [Part("training", command + (["--updates", 2] if self.toy else []), 3600,
                          5 if self.toy else 120, results, slow=True)], self.models)

    def train(self):
        step = Step("train", "GPT-2 small on the text of --text, for what is left of the time",
                    targets=self.models)
        if not self.asked.text:
            step.why_not = "no --text was given"
            return step
        # GPT-2's tokens where the text is a shard of them, else bytes. Updates without an end in sight:
        # the time ends a run, which saves its state and goes on when the script is called again.
        size = (["--length", 16, "--updates", 3] if self.toy else
                ["--preset", "gpt2_small", "--format", "bf16", "--tokens-per-update", 65536, "--warm-up",
                 200, "--updates", 20000, "--save-every", 100, "--evaluate-every", 100, "--hours-at-most", 1000])
        if self.asked.text.suffix == ".bin":
            size += ["--tokenizer", "gpt2"]
        step.parts = [self.trained(position, size) for position in ("cable", "alibi", "ggd")]
        return step

    def trained(self, position, size):
        folder = self.work / "train" / position
        goes_on = any(folder.glob("checkpoint-*.safetensors")) and not self.asked.again
        command = [self.program, "train", self.asked.text, *self.backend, "--position", position, *size,
                   "--out", folder] + (["--resume"] if goes_on else [])
        return Part(position, command, None, 5 if self.toy else 60, [] if goes_on else [folder])
