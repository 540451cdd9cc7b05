# SPDX-License-Identifier: Apache-2.0
"""A verdict is asked of devices that do in several ways what hardware leaves open."""

import concurrent.futures

import formulas
import numpy as np
import plumbline
import pytest
from plumbline.device import VARIATIONS, Device, Module, variation

SHORT = {"cases": 16, "longest": 24, "head_dims": [32]}

# x = ex2.approx(x), y = x * x + y without a rounding mode: displaced by .approx, fused or not.
OPEN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry open(.param .u64 x, .param .u64 y)
{
  .reg .b32 %r<2>;  .reg .f32 %f<5>;  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd3, %r1, 4, %rd1;
  mad.wide.u32 %rd4, %r1, 4, %rd2;
  ld.global.f32 %f1, [%rd3];
  ld.global.f32 %f2, [%rd4];
  ex2.approx.f32 %f3, %f1;
  mul.f32 %f4, %f1, %f1;
  add.f32 %f4, %f4, %f2;
  st.global.f32 [%rd3], %f3;
  st.global.f32 [%rd4], %f4;
  ret;
}
"""


class Left:
    """What a device does where it may choose: the results as bytes, each with the first number's."""

    def __init__(self, device=None):
        self.kernel = Module(OPEN, device)["open"]
        self.seen = []

    def __call__(self):
        x = np.linspace(0.1, 0.9, 32, dtype=np.float32)
        y = np.float32(1) / np.arange(3, 35, dtype=np.float32)
        self.kernel(1, 32, 0, x, y)
        self.seen.append(x.tobytes() + y.tobytes())
        return self.seen[-1]


def alibi(q, k, v, slopes):
    table = formulas.alibi(slopes, q.shape[2], k.shape[2]).astype(np.float32)
    return formulas.attention(q, k, v, table)


def right_where(left, choices):
    """A function that is right on the devices that choose so."""

    def attention(q, k, v, slopes):
        return alibi(q, k, v, slopes if left() in choices else np.float32(1.01) * slopes)

    return attention


def choices_of(left):
    made = []
    for number in range(len(VARIATIONS)):
        with variation(number) as asked:
            made.append(left())
        assert asked.launched
    return made


def test_each_variation_is_another_device():
    choices = choices_of(Left())
    assert VARIATIONS[0] == "rounded to nearest" and len(VARIATIONS) == 4
    assert len(set(choices)) == 4
    nearest = Left(Device("8.0", approximate="nearest", sums="nearest", fuse=False, order_seed=0))
    hopper = Left(Device("8.0", approximate="down", sums="hopper", fuse=False, order_seed=1))
    assert choices[0] == nearest() == Left()() and choices[2] == hopper()
    for number in (-1, 4):
        with pytest.raises(ValueError, match=f"variation is {number}; expected a number from 0 to 3"):
            with variation(number):
                pass


def test_a_check_asks_all_of_them():
    left = Left()
    choices = choices_of(left)
    left.seen.clear()
    assert plumbline.check(right_where(left, choices), "alibi", **SHORT).cases == 16
    assert set(left.seen) == set(choices)
    assert left() == choices[0]  # as before


def test_a_function_that_is_right_on_one_of_them_is_told_so():
    left = Left()
    choices = choices_of(left)
    with pytest.raises(plumbline.CheckFailed) as raised:
        plumbline.check(right_where(left, choices[:1]), "alibi", **SHORT)
    named = ", ".join(f'"{name}"' for name in VARIATIONS[1:])
    sentence = ("what hardware leaves open decides: on the software device the case passes with "
                f'"{VARIATIONS[0]}" and fails with {named}')
    assert sentence in raised.value.explanation and sentence in str(raised.value)
    # Its repetition runs on the device that it has failed on.
    for _ in range(2):
        with pytest.raises(plumbline.CheckFailed, match="what hardware leaves open decides"):
            plumbline.check(right_where(left, choices[:1]), "alibi", case=raised.value.case)


def test_a_fault_on_some_of_them_is_told_so():
    left = Left()
    fused = choices_of(left)[1::2]

    def leaves_the_array_where_fused(q, k, v, slopes):
        if left() in fused:
            left.kernel(1, 33, 0, np.zeros(32, np.float32), np.zeros(33, np.float32))
        return alibi(q, k, v, slopes)

    with pytest.raises(plumbline.CheckFailed, match="just after the end") as raised:
        plumbline.check(leaves_the_array_where_fused, "alibi", **SHORT)
    assert isinstance(raised.value.__cause__, plumbline.device.Fault)
    assert f'passes with "{VARIATIONS[0]}", "{VARIATIONS[2]}" and fails' in raised.value.explanation


def in_a_thread(function):
    """What the function returns in a thread of its own."""
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        return threads.submit(function).result()


def test_launches_from_threads_that_ask_for_nothing_are_as_asked():
    left = Left()
    choices = choices_of(left)
    with variation(2) as asked:
        assert in_a_thread(left) == choices[2] and asked.launched
        with variation(1):
            assert in_a_thread(left) == choices[1]

        def with_its_own():
            with variation(3):
                return left()

        assert in_a_thread(with_its_own) == choices[3]
        assert in_a_thread(left) == left() == choices[2]
    assert in_a_thread(left) == left() == choices[0]


def test_a_check_of_a_function_that_launches_in_threads_asks_all_of_them():
    left = Left()
    choices = choices_of(left)
    left.seen.clear()
    in_threads = right_where(lambda: in_a_thread(left), choices)
    assert plumbline.check(in_threads, "alibi", **SHORT).cases == 16
    assert set(left.seen) == set(choices)


def test_a_device_with_a_choice_of_its_own_keeps_it():
    left = Left(Device("8.0", fuse=False))
    choice = left()
    assert plumbline.check(right_where(left, [choice]), "alibi", **SHORT).cases == 16
    assert set(left.seen) == {choice}
    with variation(3) as asked:
        assert left() == choice and not asked.launched
    with pytest.raises(plumbline.CheckFailed) as raised:
        plumbline.check(right_where(left, []), "alibi", **SHORT)
    assert "hardware" not in raised.value.explanation


def test_of_a_function_without_a_device_nothing_is_said():
    calls = []

    def right_now_and_then(q, k, v, slopes):
        calls.append(0)
        return alibi(q, k, v, slopes if len(calls) % 3 else np.float32(1.01) * slopes)

    with pytest.raises(plumbline.CheckFailed) as raised:
        plumbline.check(right_now_and_then, "alibi", **SHORT)
    assert "hardware" not in raised.value.explanation
