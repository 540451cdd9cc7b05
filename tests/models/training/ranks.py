# SPDX-License-Identifier: Apache-2.0
# usage: ranks.py MPIRUN PLUMBLINE_MODELS [FAILING_SEND]
# Runs of several ranks under mpirun: the same checkpoint, byte for byte, as one rank's; a lost rank,
# one that fails where the others wait (with the library of failing_send.cpp), a signal and bad input
# end all of them.
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

mpirun, program, *failing_send = sys.argv[1:]
UPDATES, LONG = 12, 150
# As root, and with more ranks than processors, Open MPI works only where it is told so; and a rank that waits
# leaves its processor to the others.
environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1",
                   OMPI_MCA_mpi_yield_when_idle="1")


def command(data, folder, *more, updates=UPDATES, ranks=0):
    # Seven parts of an update: neither two nor three ranks have the same number each.
    launcher = [mpirun, "-n", str(ranks)] if ranks else []
    return launcher + [program, "train", str(data), "--out", str(folder), "--position", "cable",
                       "--dropout", "0.1", "--layers", "1", "--heads", "1", "--width", "32",
                       "--length", "16", "--batch", "7", "--part", "1", "--updates", str(updates),
                       "--warm-up", "2", "--save-every", "4", "--evaluate-every", "6",
                       "--evaluation-rows", "4", *more]


def run(*arguments, **options):
    return subprocess.run(command(*arguments, **options), env=environment, capture_output=True,
                          text=True, timeout=60)


def expect(holds, what, *runs):
    if not holds:
        sys.exit(what + "".join(f"\nstatus {r.returncode}\n{r.stdout}\n{r.stderr}" for r in runs))


def checkpoint(folder, updates=UPDATES):
    return (folder / f"checkpoint-{updates:08}.safetensors").read_bytes()


def same_bits(place, data):
    """Two and three ranks; three that go on with what two began, and one with that."""
    alone = run(data, place / "1")
    expect(alone.returncode == 0, "one rank fails", alone)
    for ranks in (2, 3):
        folder = place / str(ranks)
        several = run(data, folder, ranks=ranks)
        expect(several.returncode == 0, f"{ranks} ranks fail", several)
        expect(several.stdout.count("wrote ") == 1, "not one rank alone speaks", several)
        expect(checkpoint(folder) == checkpoint(place / "1"), f"{ranks} ranks: other weights")
        # Losses and norms too; the speed differs.
        logs = [[line.split(',"tokens_per_second"')[0]
                 for line in (f / "log.jsonl").read_text().splitlines()]
                for f in (place / "1", folder)]
        expect(logs[0] == logs[1] and len(logs[0]) == UPDATES, f"{ranks} ranks: another log")
    mixed = place / "mixed"
    mixed.mkdir()
    for name in ("checkpoint-00000008.safetensors", "run.json", "log.jsonl"):
        (mixed / name).write_bytes((place / "2" / name).read_bytes())
    resumed = run(data, mixed, "--resume", ranks=3)
    expect(resumed.returncode == 0, "three ranks do not go on with two's run", resumed)
    expect("continuing after update 8" in resumed.stdout, "it begins elsewhere", resumed)
    expect(checkpoint(mixed) == checkpoint(place / "1"), "resumed by three ranks: other weights")


def same_bits_by_contrast(place, data):
    """The negatives are the whole batch's, whichever ranks compute them."""
    pairs = place / "pairs.jsonl"
    words = data.read_text().split()[:48]
    pairs.write_text("".join(f'{{"query": "what is {n}", "positive": "{n} {word}"}}\n'
                             for n, word in enumerate(words)))
    for ranks in (0, 2):
        launcher = [mpirun, "-n", str(ranks)] if ranks else []
        done = subprocess.run(
            [*launcher, program, "train", "--objective", "contrastive", "--preset", "bert_base",
             "--pairs", pairs, "--out", place / f"contrast-{ranks}", "--layers", "1", "--heads", "1",
             "--width", "32", "--length", "12", "--batch", "3", "--part", "1", "--updates", "2",
             "--dropout", "0.1"],
            env=environment, capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, f"contrastive, {ranks} ranks (0: no mpirun)", done)
    expect(checkpoint(place / "contrast-0", 2) == checkpoint(place / "contrast-2", 2),
           "two ranks: other weights by contrast")


def rank_of(process):
    """The rank that a process was started as, or None for another program."""
    try:
        if os.path.realpath(f"/proc/{process}/exe") != os.path.realpath(program):
            return None
        for variable in pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
            name, _, value = variable.partition(b"=")
            if name == b"OMPI_COMM_WORLD_RANK":
                return int(value)
    except OSError:
        pass
    return None


def children(process):
    return [int(p) for p in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def lost_rank(place, data):
    folder = place / "lost"
    running = subprocess.Popen(command(data, folder, updates=10000, ranks=2), env=environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while running.poll() is None and not (folder / "checkpoint-00000008.safetensors").exists():
        time.sleep(0.005)
    victims = [p for p in children(running.pid) if rank_of(p) == 1]
    expect(len(victims) == 1, f"rank 1 is not to be found: {victims}")
    os.kill(victims[0], signal.SIGKILL)
    began = time.monotonic()
    _, said = running.communicate(timeout=30)
    seconds = time.monotonic() - began
    expect(running.returncode != 0 and seconds < 10, f"status {running.returncode}, {seconds} s")
    for words in ("a rank was lost", "--resume continues from the newest", "signal 9"):
        expect(words in said, f"it does not say '{words}':\n{said}")
    newest = max(folder.glob("checkpoint-*.safetensors"))
    updates = int(newest.stem.split("-")[1])
    resumed = subprocess.Popen(command(data, folder, "--resume", updates=10000), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = resumed.stdout.readline()
    resumed.kill()
    _, said = resumed.communicate()
    expect(first == f"continuing after update {updates}\n", f"the checkpoint is lost: {first}{said}")


def interrupted(place, data):
    """A signal to one rank alone; and Ctrl-C, which mpirun takes: it ends the ranks by SIGTERM."""
    calm = place / "calm"
    done = run(data, calm, updates=LONG)
    expect(done.returncode == 0, "one rank fails", done)
    for number, to_rank in ((signal.SIGINT, 1), (signal.SIGTERM, None)):
        folder = place / f"interrupted-{to_rank}"
        # mpirun kills what has not ended so many seconds after SIGTERM.
        one = command(data, folder, updates=LONG)
        running = subprocess.Popen(
            [mpirun, "--mca", "odls_base_sigkill_timeout", "3", "-n", "2", *one], env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        log = folder / "log.jsonl"
        while running.poll() is None and not (log.exists() and log.read_text().count("\n") > 4):
            time.sleep(0.005)
        if to_rank is None:
            running.send_signal(signal.SIGINT)
        else:
            (rank,) = (p for p in children(running.pid) if rank_of(p) == to_rank)
            os.kill(rank, number)
        _, said = running.communicate(timeout=60)
        expect(running.returncode == (1 if to_rank is None else 128 + number),
               f"status {running.returncode}: {said}")
        lines = [line for line in said.splitlines() if " stopped by " in line]
        expect(len(lines) == 1 and f"stopped by {number.name} after update " in lines[0],
               f"not one word on it: {said}")
        expect(said.count(" parameters, ") == 1 and said.count(" tokens/s: ") == 1 and
               "2 ranks" in said, f"not one rank alone speaks: {said}")
        updates = int(lines[0].split("after update ")[1].split()[0])
        expect(log.read_text().count("\n") == updates, f"{updates} updates, another log")
        resumed = run(data, folder, "--resume", updates=LONG)
        expect(resumed.returncode == 0 and f"continuing after update {updates}" in resumed.stdout,
               "the checkpoint is lost", resumed)
        expect(checkpoint(folder, LONG) == checkpoint(calm, LONG), "resumed: other weights")


def failed_exchange(place, data):
    """Rank 1 fails while rank 0 waits for its gradients; one rank goes on to the same weights."""
    if not failing_send:
        return
    folder = place / "failed"
    one = command(data, folder)
    # Without an end to the others it would last forever: timeout's status is 124.
    ended = subprocess.run(["timeout", "-k", "5", "30", mpirun, "-n", "1", *one, ":", "-n", "1",
                            "-x", "LD_PRELOAD=" + failing_send[0], *one],
                           env=environment, capture_output=True, text=True)
    said = "plumbline: rank 1: internal error: the link to the others is broken"
    expect(ended.returncode == 3 and said in ended.stderr.splitlines(),
           f"expected '{said}' and status 3", ended)
    expect((folder / "checkpoint-00000004.safetensors").exists()
           and not (folder / "checkpoint-00000008.safetensors").exists(),
           f"it failed elsewhere, with {sorted(path.name for path in folder.iterdir())}", ended)
    resumed = run(data, folder, "--resume")
    expect(resumed.returncode == 0 and "continuing after update 4" in resumed.stdout,
           "the checkpoint is lost", resumed)
    expect(checkpoint(folder) == checkpoint(place / "1"), "resumed after a failure: other weights")


def bad_input(place, data):
    many = run(data, place / "bad", ranks=8)
    one = subprocess.run([mpirun, "-n", "1", *command(data, place / "bad"), ":", "-n", "1",
                          *command(place / "missing.txt", place / "bad")],
                         env=environment, capture_output=True, text=True, timeout=60)
    for case, words in ((many, "ranks is 8; expected at most 7"),
                        (one, "rank 1: file \"" + str(place / "missing.txt"))):
        said = [line for line in case.stderr.splitlines() if line.startswith("plumbline: ")]
        expect(case.returncode == 2 and len(said) == 1 and words in said[0],
               f"expected one message with '{words}', and status 2", case)
        expect(not (place / "bad").exists(), "a run was begun")
    # What rank 0 alone finds out.
    taken = run(data, place / "1", ranks=2)
    expect(taken.returncode == 2 and "holds a run already" in taken.stderr, "a run is lost", taken)


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    data = place / "text.txt"
    data.write_text("the quick brown fox jumps over the lazy dog, and the dog sleeps on. " * 200)
    for test in (same_bits, same_bits_by_contrast, lost_rank, interrupted, failed_exchange, bad_input):
        began = time.monotonic()
        test(place, data)
        print(f"{test.__name__}: {time.monotonic() - began:.1f} s")
