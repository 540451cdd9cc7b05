# SPDX-License-Identifier: Apache-2.0
"""`bench gpu`: its report names every step, whatever becomes of them; a kill loses nothing; bad options
are refused. Usage: bench_gpu.py BENCH PROGRAMS, the script and the folder of the built programs.

Most of it runs on stand-ins: small scripts that note how they are called, and fail or hang when told to."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

bench, programs = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
NAMES = ["environment", "verify", "verify-many", "identities", "instructions", "mutants", "sanitizers",
         "operations", "row-operations", "training-step", "decoding", "ranks", "bench-attention", "bench-training",
         "train"]
STAND_IN = """#!/bin/sh
here=$(dirname "$0")
echo "$(basename "$0") $*" >>"$here/calls"
case "$*" in *"${SLOW:-nothing}"*) echo $$ >"$here/slow"; exec sleep 100 ;; esac
case "$*" in *"${FAIL:-nothing}"*) echo "wrong in /home/somebody/place/file.cu:7 on $(uname -n)"; exit 1 ;; esac
case "$*" in *"${LACK:-nothing}"*) echo "no such device"; exit 3 ;; esac
case "$*" in *"${BREAK:-nothing}"*) echo "internal error: illegal address"; exit 3 ;; esac
while [ $# -gt 0 ]; do
  case $1 in
    --json) echo '{"cells": []}' >"$2" ;;
    --out) mkdir -p "$2"; echo "${0##*/}" >"$2/checkpoint-00000004.safetensors" ;;
  esac
  shift
done
"""
NVIDIA_SMI = """#!/bin/sh
case "$*" in
  -L) echo "GPU 0: Stand-in (UUID: GPU-1)"; echo "GPU 1: Stand-in (UUID: GPU-2)" ;;
  *=name*) echo "Stand-in 9000"; echo "Stand-in 9000" ;;
  *=power.limit*) echo "700.00 W"; echo "700.00 W" ;;
  "") echo "| NVIDIA-SMI 580.1  Driver Version: 580.1  CUDA Version: 13.0 |" ;;
  *) exit 6 ;;
esac
"""


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)


class Place:
    """A folder with stand-ins for the programs and for what a machine with two GPUs has."""

    def __init__(self, folder):
        self.folder, self.bin, self.out = folder, folder / "bin", folder / "out"
        self.bin.mkdir()
        for name in ("plumbline", "ops_on_device", "cuda_ops", "cuda_op_rmsnorm", "compute-sanitizer",
                     "device_conformance", "ctest", "test_models_gpt2_cuda", "test_models_steps_cuda",
                     "test_decoders_cuda", "token_graph_cuda", "training_graph_cuda"):
            script(self.bin / name, STAND_IN)
        script(self.bin / "nvidia-smi", NVIDIA_SMI)
        script(self.bin / "nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n")
        script(self.bin / "mpirun", "#!/bin/sh\nshift 4\nexec \"$@\"\n")

    def command(self, *options):
        return [sys.executable, "-B", bench, self.bin, "--out", self.out, *options]

    def environment(self, **told):
        return {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", **told}

    def run(self, *options, **told):
        return subprocess.run(self.command(*options), capture_output=True, text=True,
                              env=self.environment(**told))

    def calls(self):
        path = self.bin / "calls"
        said = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return said

    def report(self):
        return json.loads((self.out / "report.json").read_text())

    def parts(self, step):
        return {name: part["outcome"] for name, part in self.report()["steps"][step]["parts"].items()}


def expect(holds, what, seen):
    if not holds:
        sys.exit(f"{what}\n{seen}")


def await_that(holds, what):
    for _ in range(400):
        if holds():
            return
        time.sleep(0.05)
    sys.exit(f"waited 20 s for {what}")


def is_running(process):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def text_of(archive):
    with tarfile.open(archive) as tar:
        return {member.name.split("/", 1)[1]: tar.extractfile(member).read().decode() for member in tar}


def expect_names_kept_out(place, *more):
    for name, text in text_of(place.out / "plumbline-gpu-report.tar.gz").items():
        for secret in (str(place.folder), str(bench.parent), *more):
            expect(secret not in text, f"{name} tells {secret}", text)


def toy(place):
    """The real programs."""
    text = place.folder / "text.txt"
    text.write_text(" ".join(map(str, range(5000))))
    place.bin = programs
    asked = ["environment", "verify", "verify-many", "identities", "instructions", "mutants", "operations",
             "training-step", "decoding", "train"]
    ran = place.run("--toy", "--steps", ",".join(asked), "--text", text)
    expect(ran.returncode == 0, "the toy run fails", ran)
    outcomes = place.report()["outcomes"]
    expect(list(outcomes) == NAMES, "other steps", outcomes)
    expect({name for name in NAMES if outcomes[name] == "passed"} == set(asked), "other outcomes", outcomes)
    page = (place.out / "report.md").read_text()
    for name in NAMES:
        expect(f"\n| {name} | " in page and f"{name} " in ran.stdout, f"{name} is not reported", page)
    for words in ("at toy size", "| fused | forward | fp32 | 8 | 0.", "validation_loss", "processor"):
        expect(words in page, f"no '{words}' in the report", page)
    files = text_of(place.out / "plumbline-gpu-report.tar.gz")
    for name in ("report.md", "report.json", "logs/verify-all.log", "results/verify-many-2.json",
                 "work/train/cable/log.jsonl"):
        expect(files.get(name), f"{name} is not in the archive", list(files))
    expect(not any(name.endswith(".safetensors") for name in files), "weights", list(files))
    expect(files["report.md"] == page, "the archive's report is another", files["report.md"])
    expect_names_kept_out(place)


def failures(place):
    asked = ["--toy", "--steps", "verify,identities,operations"]
    failed = place.run(*asked, FAIL="identities")
    expect(failed.returncode == 1, "a failing step is not status 1", failed)
    expect(place.report()["outcomes"]["identities"] == "failed" and place.parts("operations") ==
           {"ops_on_device": "passed"}, "the outcomes are others", place.report())
    page = (place.out / "report.md").read_text()
    name = socket.gethostname()
    words = f"wrong in file.cu:7 on {name if name == 'localhost' else '(name)'}"
    expect("| identities | " in page and "failed: it ended with status 1" in page and
           f"\n{words}\n```" in page, f"the failure is not in the report, or no '{words}'", page)
    expect_names_kept_out(place, "somebody")
    place.calls()
    expect(place.run(*asked).returncode == 1 and not place.calls(), "what failed is done, too", "")
    again = place.run(*asked, "--again", LACK="verify")
    expect(again.returncode == 3 and place.report()["outcomes"]["verify"] == "lacking" and
           len(place.calls()) == 3, "--again does not repeat, or status 3 is not told", again)
    broken = place.run(*asked, BREAK="verify")
    expect(broken.returncode == 1 and place.parts("verify") == {"all": "failed"} and
           len(place.calls()) == 1, "an internal error is taken for something lacking", broken)
    shutil.rmtree(place.out)
    (place.bin / "plumbline").rename(place.bin / "gone")
    missing = place.run(*asked)
    expect(missing.returncode == 3 and "cannot be started" in missing.stdout, "no program", missing)


def kills(place):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        asked = ["--toy", "--steps", "verify-many,identities"]
        running = subprocess.Popen(place.command(*asked), env=place.environment(SLOW="--shard 2/2"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        await_that((place.bin / "slow").exists, "the second shard")
        await_that(lambda: (place.bin / "slow").read_text(), "its number")
        child = int((place.bin / "slow").read_text())
        expect(place.parts("verify-many") == {"shard 1 of 2": "passed"}, "not up to date", place.report())
        running.send_signal(number)
        expect(running.wait(20) == -number, "another end", running.returncode)
        await_that(lambda: not is_running(child), "the end of the process that ran")
        outcomes = place.report()["outcomes"]
        expect(outcomes["verify-many"] == "unfinished" and outcomes["identities"] == "skipped",
               f"{number!r}: other outcomes", outcomes)
        if number != signal.SIGKILL:
            expect("logs/verify-many-shard-2-of-2.log" in text_of(place.out / "plumbline-gpu-report.tar.gz"),
                   "no archive", "")
        place.calls()
        rest = place.run(*asked)
        called = place.calls()
        expect(rest.returncode == 0 and place.report()["outcomes"]["identities"] == "passed" and
               len(called) == 2 and "--shard 2/2" in called[0], "it does not go on", (rest, called))
        shutil.rmtree(place.out)
        (place.bin / "slow").unlink()


def time_limits(place):
    little = place.run("--toy", "--steps", "verify", "--minutes", "0.55")
    expect(little.returncode == 0 and place.parts("verify") == {"all": "skipped"} and
           "fewer than the 5 s that it needs" in little.stdout, "it does not fit", little)
    began = time.monotonic()
    short = place.run("--toy", "--steps", "verify", "--minutes", "0.65", SLOW="verify")
    expect(short.returncode == 0 and place.parts("verify") == {"all": "unfinished"} and
           "the time of --minutes was over" in short.stdout and time.monotonic() - began < 24,
           "no end by the time", short)


def two_gpus(place):
    asked = ["environment", "verify", "instructions", "mutants", "sanitizers", "operations", "row-operations",
             "training-step", "decoding", "ranks"]
    ran = place.run("--steps", ",".join(asked))
    expect(ran.returncode == 3, "seven programs are missing", ran)  # of row-operations
    outcomes = place.report()["outcomes"]
    expect({name for name in asked if outcomes[name] == "passed"} == set(asked) - {"row-operations"},
           "other outcomes", outcomes)
    calls = place.calls()
    expect(all("--backend cuda" in call for call in calls if call.startswith("plumbline ")), "where?", calls)
    expect("device_conformance --device cuda" in calls, "which instructions?", calls)
    expect("test_models_gpt2_cuda " in calls and any(
        call.startswith("test_models_steps_cuda --run_test=bert_test") for call in calls) and
           "training_graph_cuda " in calls, "which steps?", calls)
    expect({"test_decoders_cuda ", "token_graph_cuda "} <= set(calls), "which decoding?", calls)
    planted = [call for call in calls if call.startswith("ctest ")]
    expect(len(planted) == 8 and all("-L ^mutants_on_gpu$" in call for call in planted) and
           {call.split(" -I ")[1] for call in planted} == {f"{n},,8" for n in range(1, 9)}, "planted", planted)
    watched = [call for call in calls if call.startswith("compute-sanitizer --tool")]
    expect(len(watched) == 32 and all(" --error-exitcode 9 " in call for call in watched), "watched",
           watched)
    page = (place.out / "report.md").read_text()
    for words in ("# Plumbline on Stand-in 9000", "| GPU 1: power.limit | 700.00 W |",
                  "| CUDA of the driver | 13.0 |", "| nvcc | V13.0.88 |"):
        expect(words in page, f"no '{words}' in the report", page)
    script(place.bin / "nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release 12.9, V12.9.1'\n")
    old = place.run("--again")
    expect(old.returncode == 3 and "nvcc is 12.9" in old.stderr, "an old nvcc", old)
    none = subprocess.run(place.command(), capture_output=True, text=True, env={"PATH": ""})
    expect(none.returncode == 3 and "no GPU here" in none.stderr, "no GPU", none)


def bad_options(place):
    file = place.folder / "file"
    file.write_text("")
    for options, words in ((["--minutes", "soon"], "--minutes is 'soon'; expected a number"),
                           (["--minutes", "0"], "--minutes is '0"),
                           (["--minutes", "nan"], "--minutes is 'nan"),
                           (["--minutes", "inf"], "--minutes is 'inf"),
                           (["--steps", "verify,verifi"], "--steps has 'verifi'; expected names of environment"),
                           (["--text", "/nowhere/text"], "--text is '/nowhere/text'; expected a file"),
                           (["--out", str(file)], "expected a folder"),
                           (["--out", str(place.bin)], "holds other things"),
                           (["--bring", str(place.bin)], "expected a folder with *.deb"),
                           (["--pack", str(place.bin)], "expected a new or an empty folder"),
                           (["--pack", "a", "--bring", "b"], "--pack and --bring are both given"),
                           (["--size", "3"], "unrecognized arguments: --size 3")):
        ran = place.run("--toy", *options)
        expect(ran.returncode == 2 and words in ran.stderr, f"{options}: expected status 2 and '{words}'", ran)
    expect(not place.out.exists() and not place.calls(), "something was begun", "")
    place.run("--toy", "--steps", "environment")
    state = place.report()
    (place.out / "report.json").write_text(json.dumps({**state, "commit": "another"}))
    other = place.run("--toy", "--steps", "environment")
    expect(other.returncode == 2 and "holds a report of commit another" in other.stderr, "mixed", other)
    expect(place.run("--toy", "--steps", "environment", "--again").returncode == 0 and
           place.report()["commit"] == state["commit"], "--again does not begin anew", place.report())
    (place.out / "report.json").write_text("{}")
    torn = place.run("--toy")
    expect(torn.returncode == 2 and "is no report of this script" in torn.stderr, "a torn report", torn)


def packages(place):
    """What is unpacked changes no file and no link to a folder; alternatives get their links."""
    if not shutil.which("dpkg-deb"):
        return
    sys.path.insert(0, str(bench.parent / "gpu"))
    import packages
    tree, root = place.folder / "tree", place.folder / "root"
    for name, text in (("DEBIAN/control", "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a <a@a>\n"
                        "Description: a\n"), ("lib/new", "new"), ("etc/old", "new"), ("usr/bin/run.a", "")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    script(tree / "DEBIAN/postinst", "#!/bin/sh\nupdate-alternatives \\\n --install /usr/bin/run run "
           "/usr/bin/run.a 50 \\\n\t--slave /usr/bin/gone gone /usr/bin/gone.a\n")
    deb = place.folder / "a.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, deb], check=True, capture_output=True)
    (root / "usr/lib").mkdir(parents=True)
    (root / "etc").mkdir()
    (root / "etc/old").write_text("old")
    (root / "lib").symlink_to("usr/lib")
    packages.unpack([deb], root)
    expect((root / "usr/lib/new").read_text() == "new" and (root / "lib").is_symlink(), "/lib was replaced", "")
    expect((root / "etc/old").read_text() == "old", "a file was overwritten", "")
    links = {path.name: os.readlink(path) for path in (root / "usr/bin").iterdir() if path.is_symlink()}
    expect(links == {"run": "/usr/bin/run.a"}, "other links", links)


for test in (toy, failures, kills, time_limits, two_gpus, bad_options, packages):
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        test(Place(pathlib.Path(folder).resolve()))
        print(f"{test.__name__}: {time.monotonic() - began:.1f} s")
