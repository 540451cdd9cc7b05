# SPDX-License-Identifier: Apache-2.0
"""usage: signals.py PLUMBLINE BAD_KERNELS RIGHT_KERNELS

A signal that ends the program ends it, leaves nothing behind of what was on its way, and takes the
kernel's process with it."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

program, bad_kernels, right_kernels = sys.argv[1:]
REPORTS = ["--json", "report.json", "--junit", "report.xml", "--sarif", "report.sarif", "--html",
           "page"]
ONE = ["--pass", "forward", "--bias", "nope", "--dtype", "fp32", "--cases", "1"]
HANGS = ["verify", "--kernel", bad_kernels, "--kernels", "hangs", *ONE, "--time-limit", "100",
         *REPORTS]
MANY = ["vectors", "new/folder", "--bias", "alibi", "--cases", "100000"]


def await_that(holds, what):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    sys.exit(f"waited 30 s for {what}")


def children(process):
    path = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(child) for child in path.read_text().split()]


def is_running(process):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def started(folder, arguments, **options):
    return subprocess.Popen([program, *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=options.pop("stdout", subprocess.DEVNULL),
                            stderr=subprocess.PIPE, **options)


def expect_nothing_left(folder, what):
    left = sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*"))
    assert not left, f"{what} left {left}"


def ended_by(process, number, what):
    process.send_signal(number)
    process.wait(timeout=30)
    said = process.stderr.read().decode()
    assert process.returncode == -number, f"{what}: status {process.returncode}: {said}"


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
    # Reports and a page on their way, and a kernel that does not come back.
    with tempfile.TemporaryDirectory() as folder:
        run = started(folder, HANGS)
        page = pathlib.Path(folder) / "page"
        await_that(lambda: children(run) and page.exists() and any(page.iterdir()) and
                   len(list(pathlib.Path(folder).glob(".*.partial"))) == 3, "the reports")
        host = children(run)
        ended_by(run, number, "verify")
        expect_nothing_left(folder, f"verify, ended by {number!r},")
        await_that(lambda: not any(map(is_running, host)), "the end of the kernel's process")
    # Cases of which many are written.
    with tempfile.TemporaryDirectory() as folder:
        run = started(folder, MANY)
        cases = pathlib.Path(folder) / "new" / "folder"
        await_that(lambda: len(list(cases.glob("*.safetensors"))) > 5, "some cases")
        ended_by(run, number, "vectors")
        expect_nothing_left(folder, f"vectors, ended by {number!r},")

# A reader that goes away before the report.
with tempfile.TemporaryDirectory() as folder:
    reader, writer = os.pipe()
    run = started(folder, ["verify", "--kernel", right_kernels, "--kernels", "right", *ONE,
                           "--json", "-", "--html", "page"],
                  stdout=writer)
    os.close(reader)
    os.close(writer)
    run.wait(timeout=60)
    assert run.returncode == -signal.SIGPIPE, run.returncode
    expect_nothing_left(folder, "verify without a reader")

# Who ignores a signal goes on ignoring it, as under nohup.
with tempfile.TemporaryDirectory() as folder:
    run = started(folder, MANY,
                  preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    cases = pathlib.Path(folder) / "new" / "folder"
    await_that(lambda: len(list(cases.glob("*.safetensors"))) > 5, "some cases")
    run.send_signal(signal.SIGHUP)
    count = len(list(cases.glob("*.safetensors")))
    await_that(lambda: len(list(cases.glob("*.safetensors"))) > count, "more cases")

    # Two at once in one folder do not mix: the second is refused, the first goes on.
    second = subprocess.run([program, *MANY], cwd=folder, capture_output=True, text=True)
    assert second.returncode == 2 and "no other process" in second.stderr, second
    count = len(list(cases.glob("*.safetensors")))
    await_that(lambda: len(list(cases.glob("*.safetensors"))) > count, "more cases")
    ended_by(run, signal.SIGTERM, "vectors")
    expect_nothing_left(folder, "vectors")
