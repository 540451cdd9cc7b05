#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks and measures everything that a machine with an NVIDIA GPU can, and leaves one report and one
archive of it that can be sent back.

The steps run in the order of their worth, each process with a time limit and a log of its own. The
report is brought up to date after each of them, so that a kill loses one process at most; called again
with the same --out, it goes on with what is not done. docs/gpu.md tells more."""
import argparse
import fcntl
import math
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu"))
import machine
import packages
import report
import run
import steps

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESERVED = 30  # seconds of the budget: to end a process (run.GRACE), and to write report and archive


class Parser(argparse.ArgumentParser):
    def error(self, message):
        run.refuse(message, 2)


def parsed(arguments):
    """The options, checked: what is wrong ends the script with status 2."""
    parser = Parser(prog="plumbline bench gpu", description=__doc__, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter,
                    epilog="Steps: " + ", ".join(steps.NAMES) + ".\nExit status: 0 nothing went against, "
                    "1 a check failed, 2 bad input or usage,\n3 something the machine lacks, or a build "
                    "that fails.")
    parser.add_argument("programs", help=argparse.SUPPRESS)  # the folder bin/ of a build
    # The launcher calls twice: to prepare the machine, and when CMake has made the build folder.
    parser.add_argument("--stage", choices=["prepare", "run"], help=argparse.SUPPRESS)
    parser.add_argument("--build", help=argparse.SUPPRESS)  # builds there what each step needs
    parser.add_argument("--out", metavar="DIR", default=ROOT / "build/gpu-report",
                        help="where report and archive go (default: build/gpu-report)")
    parser.add_argument("--minutes", metavar="N", default="120",
                        help="for everything, builds too (default: 120); what does not fit is skipped")
    parser.add_argument("--steps", metavar="NAME,...", default=",".join(steps.NAMES),
                        help="only these")
    parser.add_argument("--again", action="store_true", help="repeat steps that are done")
    parser.add_argument("--text", metavar="FILE",
                        help="a text, or a shard of GPT-2's tokens (*.bin), to train on at the end")
    parser.add_argument("--toy", action="store_true",
                        help="tiny sizes on the emulation: shows that the script works")
    parser.add_argument("--commit", metavar="ID", default="",
                        help="for the report, where this folder is no clone")
    parser.add_argument("--pack", metavar="FOLDER",
                        help="instead: download the Debian packages that the build needs to FOLDER")
    parser.add_argument("--bring", metavar="FOLDER",
                        help="first unpack such a FOLDER, where there is no network (as root)")
    asked = parser.parse_args(arguments)
    asked.programs = pathlib.Path(asked.programs).resolve()
    asked.out = pathlib.Path(asked.out).resolve()
    try:
        asked.minutes = float(asked.minutes)
        if not 0 < asked.minutes < math.inf:
            raise ValueError
    except ValueError:
        run.refuse(f"--minutes is '{asked.minutes}'; expected a number of minutes above 0", 2)
    asked.steps = asked.steps.split(",")
    for name in asked.steps:
        if name not in steps.NAMES:
            run.refuse(f"--steps has '{name}'; expected names of {', '.join(steps.NAMES)}", 2)
    if asked.text:
        asked.text = pathlib.Path(asked.text).resolve()
        if not asked.text.is_file():
            run.refuse(f"--text is '{asked.text}'; expected a file", 2)
    for option in ("pack", "bring"):
        if getattr(asked, option) == "":
            run.refuse(f"--{option} is ''; expected a folder", 2)
    if asked.pack and asked.bring:
        run.refuse("--pack and --bring are both given; expected one: --pack where there is a network, "
                   "--bring on the machine with the GPU", 2)
    return asked


def prepare(asked):
    """What comes before a build: the machine has what it must, packages are unpacked."""
    if not asked.toy:
        machine.expect_gpu_and_nvcc()
    if not asked.bring:
        return
    packages.bring(pathlib.Path(asked.bring))
    if asked.build:  # what the launcher writes when it has installed the packages
        stamp = pathlib.Path(asked.build).parent / ".packages"
        stamp.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "cmake/debian-packages.txt", stamp)


def forget_build_without_cuda(build):
    """CMake remembers that it found no nvcc; what it has configured without one is made anew."""
    ninja = pathlib.Path(build) / "build.ninja"
    if ninja.exists() and "plumbline_kernels_cuda" not in ninja.read_text():
        ninja.unlink()
        (ninja.parent / "CMakeCache.txt").unlink(missing_ok=True)


def opened(asked):
    """The output folder's report, its lock held until the script ends."""
    try:
        if asked.out.is_dir() and any(asked.out.iterdir()) and not (asked.out / "report.json").exists():
            run.refuse(f"--out is '{asked.out}', which holds other things; expected a new folder, or that of "
                       "an earlier run", 2)
        for folder in ("logs", "results", "work"):
            (asked.out / folder).mkdir(parents=True, exist_ok=True)
        lock = open(asked.out / ".lock", "w")
    except OSError as why:
        run.refuse(f"--out is '{asked.out}', which cannot be written ({why.strerror}); expected a folder "
                   "of its own", 2)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        run.refuse(f"--out is '{asked.out}', where another run is under way; expected another folder", 2)
    return report.Report(asked.out, steps.NAMES, commit(asked.commit), asked.toy, asked.again,
                         {ROOT, asked.out, asked.programs.parent}), lock


def commit(given):
    """Of this clone; where it is none, what --commit says."""
    git = ["git", "-c", "safe.directory=*", "-C", str(ROOT)]
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        changes = subprocess.run([*git, "status", "--porcelain", "--untracked-files=no"],
                                 capture_output=True, text=True, check=True)
        return head.stdout.strip() + (" with changes" if changes.stdout.strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return given or "unknown"


def remove(path):
    """A folder or a file, where there is one."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


class Runner:
    def __init__(self, asked, the_report):
        self.asked, self.report = asked, the_report
        self.deadline = time.monotonic() + 60 * asked.minutes - RESERVED

    def left(self):
        return self.deadline - time.monotonic()

    def one(self, step, part, share):
        """Runs one part, which gets that share of the time left where it has no limit, and writes down how
        it ended. False: the script is to end."""
        limit = min(part.limit or self.left() / share, self.left())
        if limit < part.least:
            self.report.note(step, part, "skipped", f"{max(0, self.left()):.0f} s are left of "
                             f"--minutes, fewer than the {part.least} s that it needs")
            return True
        for path in part.clear:
            remove(path)
        run.say(f"{step.name}: {part.name}")
        log = self.asked.out / "logs" / f"{step.name}-{part.name.replace(' ', '-')}.log"
        ended = run.process(part.command, log, limit, self.asked.out / "work")
        self.report.note(step, part, *self.judged(part, ended, log, limit), ended=ended, log=log)
        return ended.by != "signal"

    def judged(self, part, ended, log, limit):
        """How a part ended: its outcome, and why."""
        if ended.by == "signal":
            return "unfinished", "the script was ended"
        if ended.by == "limit":
            if not part.limit or limit < part.limit:
                return "unfinished", "the time of --minutes was over"
            return "unfinished" if part.slow else "failed", f"it did not end within {limit:.0f} s"
        if ended.status == 0:
            return "passed", ""
        if ended.status is None:
            return "lacking", ended.why
        if part.name == "build":
            return "lacking", "the build failed"
        # 77: a test without its device. An internal error, such as CUDA's, ends with 3, too.
        if ended.status in (3, 77) and "internal error" not in report.end_of(log):
            return "lacking", f"it ended with status {ended.status}: the machine lacks something"
        if ended.status < 0:
            return "failed", f"it was ended by signal {-ended.status}"
        return "failed", f"it ended with status {ended.status}"

    def step(self, step):
        if step.why_not:
            self.report.leave_out(step)
            return
        todo = [part for part in step.parts if not self.report.is_done(step, part)]
        if not todo:
            return
        if self.asked.build and step.targets:
            build = steps.build_part(step, pathlib.Path(self.asked.build))
            if not self.one(step, build, share=1) or self.report.outcome_of(step, build) != "passed":
                return
        for number, part in enumerate(todo):
            if run.stopped_by() or not self.one(step, part, len(todo) - number):
                return


def main():
    asked = parsed(sys.argv[1:])
    if asked.pack:
        packages.pack(pathlib.Path(asked.pack), ROOT / "cmake/debian-packages.txt")
        return 0
    if asked.stage != "run":
        prepare(asked)
    if asked.stage == "prepare":
        if not asked.toy:
            forget_build_without_cuda(asked.build)
        return 0
    run.catch_signals()
    the_report, _lock = opened(asked)
    runner = Runner(asked, the_report)
    the_report.write(with_archive=True)
    for step in steps.make(asked, machine.gpu_count()):
        if run.stopped_by():
            break
        if step.name in asked.steps:
            runner.step(step)
            the_report.write(with_archive=True)
    print(the_report.summary())
    print(f"report: {asked.out / 'report.md'}\nto send back: {asked.out / report.ARCHIVE}", flush=True)
    run.end_as_signalled()
    return the_report.status()


if __name__ == "__main__":
    sys.exit(main())
