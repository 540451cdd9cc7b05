# SPDX-License-Identifier: Apache-2.0
# usage: interrupt.py PLUMBLINE_MODELS [SEED]
# A run that is asked to stop, by SIGINT, SIGTERM or SIGHUP, saves a checkpoint and says how to go on; resumed,
# it ends with the bits of a calm one. A second signal ends it at once. More updates than a run began
# with are made at the lowest rate, and give the same bits wherever they were asked for.
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

program, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
draw = random.Random(seed)
UPDATES = 60
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def command(data, folder, *more, updates=UPDATES):
    return [program, "train", str(data), "--out", str(folder), "--position", "cable", "--ssmax",
            "--dropout", "0.1", "--layers", "1", "--heads", "1", "--width", "32", "--length", "16",
            "--batch", "4", "--part", "1", "--updates", str(updates), "--save-every", "25",
            "--evaluate-every", "30", "--evaluation-rows", "4", *map(str, more)]


def defaults():
    for number in SIGNALS:  # a shell may have had them ignored
        signal.signal(number, signal.SIG_DFL)


def start(*arguments, **options):
    return subprocess.Popen(command(*arguments, **options), stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, preexec_fn=defaults)


def run(*arguments, **options):
    done = subprocess.run(command(*arguments, **options), capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def succeed(*arguments, **options):
    status, said = run(*arguments, **options)
    expect(status == 0, f"status {status}: {said}")


def expect(holds, what):
    if not holds:
        sys.exit(f"seed {seed}: {what}")


def lines(folder):
    log = folder / "log.jsonl"
    return log.read_text().splitlines() if log.exists() else []


def without_speed(folder):
    return [re.sub(r',"tokens_per_second":[^,}]*', "", line) for line in lines(folder)]


def checkpoint(folder, updates):
    return folder / f"checkpoint-{updates:08}.safetensors"


def stopped(folder, running, number):
    """Of a run that is to stop soon: how many updates it says that it made."""
    began = time.monotonic()
    _, said = running.communicate(timeout=60)
    seconds = time.monotonic() - began
    expect(running.returncode == 128 + number, f"status {running.returncode} at {number}: {said}")
    found = re.search(r'stopped by (\w+) after update (\d+) of \d+, saved in "(.*)"; the same command '
                      r"with --resume continues\n$", said)
    expect(found is not None and found[1] == signal.Signals(number).name, f"it says {said}")
    updates = int(found[2])
    expect(pathlib.Path(found[3]) == checkpoint(folder, updates), f"it says {said}")
    expect(checkpoint(folder, updates).exists(), "there is no checkpoint")
    expect(len(lines(folder)) == updates, f"{len(lines(folder))} lines of {updates} updates")
    expect(not list(folder.glob(".*.partial")), "part of a file is left")
    expect(seconds < 20, f"it stopped after {seconds} s")
    return updates


def as_a_calm_one(place, data, calm):
    """Stopped in its first update, before a line of the log, and wherever it happens to be later."""
    folder = place / "stopped"
    made = []
    for n, goal in enumerate((0, 3, 20, 29, 45, 50)):
        running = start(data, folder, *(["--resume"] if made else []))
        number = SIGNALS[n % 3]
        if goal == 0:  # the second line comes after the first part
            for _ in range(2):
                running.stderr.readline()
        while running.poll() is None and len(lines(folder)) < goal:
            time.sleep(0.0005)
        time.sleep(draw.uniform(0.0, 0.02) if goal else 0.0)
        running.send_signal(number)
        made.append(stopped(folder, running, number))
    expect(made == sorted(made) and made[-1] < UPDATES, f"it stopped after {made}")
    succeed(data, folder, "--resume")
    last = checkpoint(calm, UPDATES).name
    expect((calm / last).read_bytes() == (folder / last).read_bytes(),
           f"stopped after {made}: other weights than the calm run's")
    expect(without_speed(calm) == without_speed(folder), f"stopped after {made}: another log")
    return made


def twice(place):
    """A part that takes seconds; the second signal does not wait for it."""
    data, folder = place / "long.txt", place / "twice"
    data.write_text("all work and no play makes a dull run. " * 3000)
    for first, second in ((signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT)):
        running = subprocess.Popen(
            [program, "train", data, "--out", folder, "--width", "256", "--heads", "4", "--layers",
             "8", "--length", "512", "--batch", "8", "--hours-at-most", "1000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=defaults)
        expect("parameters" in running.stderr.readline(), "it does not say at once what it trains")
        while "SigCgt" not in (status := pathlib.Path(f"/proc/{running.pid}/status").read_text()) or \
                not int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) & 1 << first - 1:
            time.sleep(0.005)  # until it takes the signal
        running.send_signal(first)
        while "a second signal ends at once" not in running.stderr.readline():
            expect(running.poll() is None, "it ended at the first signal")
        running.send_signal(second)
        began = time.monotonic()
        running.communicate(timeout=60)
        expect(running.returncode == -second and time.monotonic() - began < 1,
               f"status {running.returncode}, {time.monotonic() - began} s after the second signal")
        expect(not list(folder.glob("checkpoint-*")), "the part took no time")


def more_updates(place, data, calm):
    more = UPDATES + 12
    folders = [place / "raised at its end", place / "raised on the way"]
    succeed(data, folders[0])
    running = start(data, folders[1])
    while running.poll() is None and len(lines(folders[1])) < 7:
        time.sleep(0.0005)
    running.send_signal(signal.SIGINT)
    stopped(folders[1], running, signal.SIGINT)
    for folder in folders:
        succeed(data, folder, "--resume", updates=more)
        log = [json.loads(line) for line in lines(folder)]
        rates = [line["learning_rate"] for line in log]
        expect(len(log) == more and [line["update"] for line in log] == [*range(1, more + 1)],
               f"{folder.name}: {len(log)} lines")
        expect(rates[:UPDATES] == [json.loads(line)["learning_rate"] for line in lines(calm)],
               f"{folder.name}: another schedule than the run's own")
        expect(set(rates[UPDATES:]) == {3e-4}, f"{folder.name}: rates {rates[UPDATES:]}")
    expect(checkpoint(folders[0], more).read_bytes() == checkpoint(folders[1], more).read_bytes(),
           "other weights where the updates were raised elsewhere")
    # Once more, from the raised run; and back, which it has passed.
    succeed(data, folders[0], "--resume", updates=more + 3)
    expect(len(lines(folders[0])) == more + 3, "raised twice")
    for updates, words in ((UPDATES, f"--updates is {UPDATES}; expected at least {more + 3}"),
                           (UPDATES - 1, f"--updates {UPDATES - 1}, then {UPDATES}")):
        status, said = run(data, folders[0], "--resume", updates=updates)
        expect(status == 2 and words in said, f"{updates} updates: status {status}: {said}")


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    data, calm = place / "text.txt", place / "calm"
    words = ["tide", "harbour", "plumb", "line", "stone", "under", "the", "of", "and", "seven"]
    data.write_text(" ".join(draw.choice(words) for _ in range(3000)))
    succeed(data, calm)
    made = as_a_calm_one(place, data, calm)
    twice(place)
    more_updates(place, data, calm)
    print(f"stopped after {made}; the same bytes")
