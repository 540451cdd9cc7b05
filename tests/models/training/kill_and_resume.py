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


def updates_logged(folder):
    log = folder / "log.jsonl"
    return log.read_bytes().count(b"\n") if log.exists() else 0


def checkpoints(folder):
    return sorted(folder.glob("checkpoint-*.safetensors")) if folder.exists() else []


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    data, calm, killed = place / "text.txt", place / "calm", place / "killed"
    data.write_text(text())
    began = time.monotonic()
    subprocess.run(command(data, calm), check=True, stdout=subprocess.DEVNULL)
    an_update = (time.monotonic() - began) / UPDATES

    # Moments all over the run: the first few in its start-up, the others so many updates into it, and
    # a fraction of an update more. The log tells how far it is, whatever the machine's load.
    STARTS = kills // 5
    for kill in range(kills):
        goal = (0 if kill < STARTS else
                (kill - STARTS + 1) * (UPDATES - 10) // (kills - STARTS) - draw.randrange(5))
        resume = ["--resume"] if checkpoints(killed) else []
        run = subprocess.Popen(command(data, killed, *resume), stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
        while run.poll() is None and updates_logged(killed) < goal:
            time.sleep(0.0005)
        time.sleep(draw.uniform(0.0, 2.0 * an_update if goal else 0.1))
        alive = run.poll() is None
        run.send_signal(signal.SIGKILL)
        _, said = run.communicate()
        if not alive:
            sys.exit(f"seed {seed}, kill {kill}: the run ended before it was to be killed, status "
                     f"{run.returncode}: {said.decode()}")
    resume = ["--resume"] if checkpoints(killed) else []
    subprocess.run(command(data, killed, *resume), check=True, stdout=subprocess.DEVNULL)

    last = f"checkpoint-{UPDATES:08}.safetensors"
    if (calm / last).read_bytes() != (killed / last).read_bytes():
        sys.exit(f"seed {seed}: after {kills} kills the weights differ from the calm run's")
    kept = {"log.jsonl", "run.json", ".lock", last, f"checkpoint-{UPDATES - 3:08}.safetensors",
            "loss.svg", "norm.svg", "learning_rate.svg"}
    leftovers = {p.name for p in killed.iterdir()} - kept
    if leftovers:
        sys.exit(f"seed {seed}: left over: {sorted(leftovers)}")
    log = (killed / "log.jsonl").read_text().splitlines()
    if [l for l in log if l.startswith('{"update":')] != log or len(log) != UPDATES:
        sys.exit(f"seed {seed}: the log has {len(log)} lines, expected one for each update")
    print(f"{kills} kills; the same bytes")
