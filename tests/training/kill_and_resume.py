# SPDX-License-Identifier: Apache-2.0
# usage: kill_and_resume.py PLUMBLINE_MODELS KILLS [SEED]
# A run that is killed (SIGKILL) at KILLS moments, drawn from SEED, and resumed each time ends with
# the same checkpoint, byte for byte, as a run that nobody touched.
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

program, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
draw = random.Random(seed)
UPDATES = 150


def text():
    words = ["tide", "harbour", "plumb", "line", "stone", "under", "the", "of", "and", "seven"]
    return " ".join(draw.choice(words) for _ in range(3000))


def command(data, folder, *more):
    return [program, "train", str(data), "--out", str(folder), "--position", "cable", "--ssmax",
            "--dropout", "0.1", "--layers", "1", "--heads", "1", "--width", "32", "--length", "16",
            "--batch", "4", "--part", "2", "--updates", str(UPDATES), "--save-every", "3",
            "--evaluate-every", "50", "--evaluation-rows", "4", *more]


def checkpoints(folder):
    return sorted(folder.glob("checkpoint-*.safetensors")) if folder.exists() else []


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    data, calm, killed = place / "text.txt", place / "calm", place / "killed"
    data.write_text(text())
    began = time.monotonic()
    subprocess.run(command(data, calm), check=True, stdout=subprocess.DEVNULL)
    whole = time.monotonic() - began

    done, interrupted = 0, 0
    while done < kills:
        resume = ["--resume"] if checkpoints(killed) else []
        run = subprocess.Popen(command(data, killed, *resume), stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
        # Moments all over the run, its start-up among them, yet each leaves some way to go.
        try:
            run.wait(draw.uniform(0.0, 2.0 * whole / kills + 0.05))
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            interrupted += 1
        _, said = run.communicate()
        if run.returncode not in (0, -signal.SIGKILL):
            sys.exit(f"seed {seed}, kill {done}: status {run.returncode}: {said.decode()}")
        done += 1
    resume = ["--resume"] if checkpoints(killed) else []
    subprocess.run(command(data, killed, *resume), check=True, stdout=subprocess.DEVNULL)

    last = f"checkpoint-{UPDATES:08}.safetensors"
    if (calm / last).read_bytes() != (killed / last).read_bytes():
        sys.exit(f"seed {seed}: after {interrupted} kills the weights differ from the calm run's")
    kept = {"log.jsonl", "run.json", ".lock", last, f"checkpoint-{UPDATES - 3:08}.safetensors"}
    leftovers = {p.name for p in killed.iterdir()} - kept
    if leftovers:
        sys.exit(f"seed {seed}: left over: {sorted(leftovers)}")
    log = (killed / "log.jsonl").read_text().splitlines()
    if [l for l in log if l.startswith('{"update":')] != log or len(log) != UPDATES:
        sys.exit(f"seed {seed}: the log has {len(log)} lines, expected one for each update")
    if interrupted < kills // 2:
        sys.exit(f"seed {seed}: only {interrupted} of {kills} runs were alive to be killed")
    print(f"{interrupted} kills in {kills} starts; the same bytes")
