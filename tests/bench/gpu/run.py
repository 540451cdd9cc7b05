# SPDX-License-Identifier: Apache-2.0
"""Processes with a time limit and a log, and the signals that end the script."""
import collections
import ctypes
import os
import signal
import subprocess
import sys
import time

# status: None where the program could not be started (why tells). by: "itself", "limit" or "signal".
Ended = collections.namedtuple("Ended", "status by seconds why")
GRACE = 20  # seconds between SIGTERM and SIGKILL: a training run saves its state
_signals = []
_libc = ctypes.CDLL(None)


def say(text):
    print(f"plumbline: {text}", file=sys.stderr, flush=True)


def refuse(text, status):
    say(text)
    sys.exit(status)


def catch_signals():
    """From now on a signal is remembered, and nothing more: whoever waits looks for it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, lambda caught, frame: _signals.append(caught))


def stopped_by():
    """The signal that is to end the script, or None."""
    return _signals[0] if _signals else None


def end_as_signalled():
    """Where a signal was caught, ends this process by it, as its sender expects."""
    if _signals:
        signal.signal(_signals[0], signal.SIG_DFL)
        os.kill(os.getpid(), _signals[0])


def _in_the_child():
    os.setpgrp()  # one signal for it and for all that it starts
    _libc.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: it does not outlive a script that is killed


def _signal_group(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def process(command, log, limit, folder):
    """Runs a command for so many seconds at most; what it prints goes to the file log."""
    began = time.monotonic()
    with open(log, "wb") as output:
        try:
            child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                     stdout=output, stderr=subprocess.STDOUT, cwd=folder,
                                     env=_environment(), preexec_fn=_in_the_child)
        except OSError as why:
            return Ended(None, "itself", 0.0, f"'{command[0]}' cannot be started ({why.strerror})")
        by = "itself"
        while child.poll() is None:
            time.sleep(0.02)
            if stopped_by() or time.monotonic() - began > limit:
                by = "signal" if stopped_by() else "limit"
                _signal_group(child, signal.SIGTERM)
                try:
                    child.wait(GRACE)
                except subprocess.TimeoutExpired:
                    pass
                break
        _signal_group(child, signal.SIGKILL)  # also what a process left behind when it ended
        child.wait()
        return Ended(child.returncode, by, time.monotonic() - began, "")


def _environment():
    # Open MPI runs as root, and with more ranks than processors, only where it is told so.
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "PYTHONUNBUFFERED": "1"}
