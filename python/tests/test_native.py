# SPDX-License-Identifier: Apache-2.0
"""What lies between Python and the library: exceptions, signals, types, memory."""

import concurrent.futures
import gc
import json
import os
import resource
import signal
import sys
import threading
import time

import formulas
import numpy as np
import plumbline
import pytest
from plumbline import _arguments, _command, _native
from plumbline.device import Device, Module, Refused
from test_device import SCALE


class Alarm(BaseException):
    """No Exception, which in the function would be its failure."""


@pytest.fixture
def alarm():
    """Sets off a signal after some seconds, whose handler raises Alarm."""

    def handler(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def sleepy(q, k, v):
    time.sleep(60)


@pytest.mark.parametrize("function", [formulas.attention, sleepy])
def test_what_a_signal_handler_raises_ends_a_check_at_once(alarm, function):
    start = time.monotonic()
    alarm(0.3)
    with pytest.raises(Alarm):
        plumbline.check(function, cases=10**6, longest=64)
    assert time.monotonic() - start < 20


def test_ctrl_c_ends_a_check_while_the_judge_computes():
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        plumbline.check(formulas.attention, cases=10**6, longest=64)
    timer.join()
    plumbline.check(formulas.attention, cases=1)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_what_is_no_failure_of_the_function_goes_up_as_it_is(error):
    raised = error("enough")

    def ends(q, k, v):
        raise raised

    with pytest.raises(error) as caught:
        plumbline.check(ends, cases=3)
    assert caught.value is raised


def test_the_cause_is_the_exception_itself_with_its_frames():
    raised = ZeroDivisionError("näme \0 \udc80")

    def broken(q, k, v):
        raise raised

    with pytest.raises(plumbline.CheckFailed, match="ZeroDivisionError: näme") as failed:
        plumbline.check(broken, cases=3)
    assert failed.value.__cause__ is raised and failed.value.kind == "exception"
    frames, last = [], raised.__traceback__
    while last is not None:
        frames.append(last.tb_frame.f_code.co_name)
        last = last.tb_next
    assert frames[-1] == "broken"


def test_checks_in_threads_do_not_take_each_others_answers():
    def judged(number):
        def function(q, k, v):
            if number % 2:
                raise ZeroDivisionError(number)
            return formulas.attention(q, k, v)

        try:
            return plumbline.check(function, cases=5, longest=40, head_dims=[8], threads=1).cases
        except plumbline.CheckFailed as failed:
            return failed.__cause__.args[0]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(judged, range(8))) == [5, 1, 5, 3, 5, 5, 5, 7]


def test_a_function_may_check_another():
    inner = []

    def function(q, k, v):
        if not inner:
            inner.append(plumbline.check(formulas.attention, cases=2, longest=32).cases)
        return formulas.attention(q, k, v)

    assert plumbline.check(function, cases=3, longest=32).cases == 3 and inner == [2]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: plumbline.alibi_slopes("4"), 'heads is "4"; expected a whole number'),
        (lambda: plumbline.alibi_slopes(2.5), "heads is 2.5; expected a whole number"),
        (lambda: plumbline.alibi_slopes(True), "heads is true; expected a whole number"),
        (lambda: plumbline.alibi_slopes(2**40), "heads is 1099511627776; expected a whole number in range"),
        (lambda: plumbline.alibi_slopes(4, geometric=1), "geometric is 1; expected true or false"),
        (lambda: plumbline.alibi_slopes(object()), "cannot be interpreted as an integer"),
        (lambda: plumbline.case_arrays(3), "line is 3; expected a string"),
        (lambda: plumbline.check(formulas.attention, cases=1, case=3), "case is 3; expected a case's line, or None"),
        (lambda: Module(3, Device()), "ptx is 3; expected PTX as a str"),
        (lambda: Device().__dict__["_native"].has(-1, 4), "address is -1; expected a whole number in range"),
        (lambda: _native._call("alibi_slopes", heads=4), "geometric is missing"),
    ],
)
def test_an_argument_of_another_type_is_named(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_numbers_of_numpys_are_numbers():
    assert (plumbline.alibi_slopes(np.int64(4)) == plumbline.alibi_slopes(4)).all()


def test_memory_of_a_device_is_freed_with_the_last_array_that_sees_it():
    device = Device(memory=1024)
    memory = device.empty(256, np.float32)
    part = memory.reshape(2, 128)[1:]
    del memory
    gc.collect()
    with pytest.raises(Refused) as refused:
        device.empty(1, np.uint8)
    assert refused.value.reason == "out_of_memory"
    del part
    gc.collect()
    last = device.empty(256, np.float32)
    native = device._native
    del device, native
    gc.collect()
    last[:] = 1  # still there


def test_results_are_freed():
    q = np.ones((1, 1, 1, 2**20))  # o: 8 MiB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(30):
        assert (plumbline.attention(q, q, q, scale=1.0).o == 1).all()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 * 1024


def test_a_cycle_of_garbage_with_a_device_in_it_is_freed_in_silence(monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    module = Module(SCALE, Device())
    module.device._native._owner.cycle = module
    del module
    gc.collect()
    assert said == []


class Box:
    """What gives its numbers by DLPack alone."""

    def __init__(self, array):
        self.__dlpack__ = array.__dlpack__


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", "int64"])
def test_arrays_of_frameworks_may_have_any_strides(dtype):
    array = np.arange(60).reshape(3, 4, 5).astype(dtype)
    for view in (array, array[::2, 1:, ::3], array.T, array[:1, :1, :1].reshape(()), array[:, :0]):
        widened = _arguments.floats("x", Box(view))
        assert widened.dtype == np.float64 and widened.flags.c_contiguous
        np.testing.assert_array_equal(widened, view.astype(np.float64))
        assert widened.shape == view.shape


def test_numbers_of_other_types_are_refused():
    with pytest.raises(TypeError, match="x is of type Box: its numbers are none of float64, .* and integers; expected"):
        _arguments.floats("x", Box(np.ones(3, np.complex64)))


def test_bfloat16_is_exact():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")
    numbers = torch.randn(4, 6).bfloat16().T[1::2]
    np.testing.assert_array_equal(_arguments.floats("x", numbers), numbers.double().numpy())
    assert _arguments.floats("x", torch.ones(2, 0).bfloat16()).shape == (2, 0)


@pytest.mark.parametrize("arguments", [["train"], ["test", "-R", "x"], ["verify", "--device", "software"],
                                       ["verify", "--device=software"]])
def test_the_command_names_the_checkout_where_it_has_not_what_is_asked(monkeypatch, capsys, arguments):
    monkeypatch.setattr(sys, "argv", ["plumbline", *arguments])
    with pytest.raises(SystemExit) as end:
        _command.main()
    assert end.value.code == 2 and "; ./plumbline in a checkout" in capsys.readouterr().err


def test_the_command_becomes_the_program(monkeypatch):
    became = []
    monkeypatch.setattr(os, "execv", lambda *given: became.append(given))
    monkeypatch.setattr(sys, "argv", ["/some/bin/plumbline", "verify", "--cases", "5"])
    _command.main()
    (program, arguments), = became
    assert program.parts[-3:] == ("plumbline", "bin", "plumbline")
    assert arguments == ["plumbline", "verify", "--cases", "5"]


def test_every_method_of_the_library_can_be_checked():
    assert {"nope", "alibi"} <= {method["name"] for method in json.loads(_native.methods())}
