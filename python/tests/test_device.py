# SPDX-License-Identifier: Apache-2.0
"""The software device from Python: arguments, arrays of NumPy's and PyTorch's, and what is raised."""

import gc

import numpy as np
import plumbline
import pytest
from plumbline.device import BadPtx, Device, Fault, Module, Refused

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

SCALE = HEAD + """
.visible .entry scale(.param .u64 x, .param .f32 factor, .param .u32 n)
{
  .reg .pred %outside;  .reg .b32 %r<5>;  .reg .f32 %f<4>;  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r4, %r2, %r3, %r4;
  setp.ge.u32 %outside, %r4, %r1;
  @%outside bra DONE;
  mad.wide.u32 %rd3, %r4, 4, %rd1;
  ld.global.f32 %f2, [%rd3];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd3], %f3;
DONE:
  ret;
}
"""

# out[0..7] = the bits of every parameter.
PARAMETERS = HEAD + """
.visible .entry parameters(.param .u64 out, .param .u8 a, .param .u16 b, .param .u32 c, .param .u64 d,
                           .param .f64 e, .param .align 4 .b8 f[12])
{
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out];
  ld.param.u8 %rd2, [a];
  ld.param.u16 %rd3, [b];
  ld.param.u32 %rd4, [c];
  ld.param.u64 %rd5, [d];
  ld.param.u64 %rd6, [e];
  ld.param.u32 %rd7, [f+4];
  ld.param.u32 %rd8, [f+8];
  st.global.u64 [%rd1], %rd2;
  st.global.u64 [%rd1+8], %rd3;
  st.global.u64 [%rd1+16], %rd4;
  st.global.u64 [%rd1+24], %rd5;
  st.global.u64 [%rd1+32], %rd6;
  st.global.u64 [%rd1+40], %rd7;
  st.global.u64 [%rd1+48], %rd8;
  ret;
}
"""

# y = x through shared memory: a thread copies to y what another warp has read. With a barrier or without.
SHARED = HEAD + """
.extern .shared .align 4 .b8 memory[];
.visible .entry turn(.param .u64 x, .param .u64 y, .param .u32 wait)
{
  .reg .pred %p;  .reg .b32 %r<6>;  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [wait];
  mov.u32 %r2, %tid.x;
  mad.wide.u32 %rd3, %r2, 4, %rd1;
  ld.global.u32 %r3, [%rd3];
  mov.u32 %r4, memory;
  mad.lo.u32 %r5, %r2, 4, %r4;
  st.shared.u32 [%r5], %r3;
  setp.ne.u32 %p, %r1, 0;
  @%p bar.sync 0;
  xor.b32 %r2, %r2, 32;
  mad.lo.u32 %r5, %r2, 4, %r4;
  ld.shared.u32 %r3, [%r5];
  mad.wide.u32 %rd4, %r2, 4, %rd2;
  st.global.u32 [%rd4], %r3;
  ret;
}
"""


def numbers(count=300):
    return np.arange(count, dtype=np.float32)


def test_a_kernel_changes_the_array_and_counts_its_instructions():
    module = Module(SCALE)
    assert module.kernels == ["scale"] and module.device.compute == "8.0"
    x = numbers()
    counts = module["scale"]((3, 1), 128, 0, x, 2.0, 300)
    assert (x == 2 * numbers()).all()
    # 12 warps execute 8 instructions, the branch and ret, and 10 of them the other 4. The branch counts
    # for threads that take it.
    assert counts.warp_instructions == 12 * 10 + 10 * 4
    assert counts.thread_instructions == 384 * 8 + 84 + 300 * 4 + 384


def test_a_profile_counts_more_of_a_launch():
    x = numbers()
    profile = Module(SCALE)["scale"].profile((3, 1), 128, 0, x, 2.0, 300)
    assert (x == 2 * numbers()).all()
    figures = profile.figures
    # As above; nine whole warps load and store 128 bytes, the tenth 48 in two sectors, and is parted.
    assert figures["kernel"] == "scale" and figures["compute"] == "8.0" and figures["launches"] == 1
    assert figures["total"]["warp_instructions"] == 160
    assert figures["total"]["global_sectors"] == figures["total"]["global_ideal"] == 2 * (9 * 4 + 2)
    assert figures["total"]["global_bytes_read"] == 1200
    assert figures["total"]["divergent_branches"] == 1
    assert figures["pipes"]["fp32"]["flops"] == 300
    (shape,) = figures["shapes"]
    assert shape["grid"] == [3, 1, 1] and shape["block"] == [128, 1, 1]
    assert shape["occupancy"]["blocks"] == 16 and shape["occupancy"]["limited_by"] == "warps"
    assert shape["occupancy"]["registers_from"] == "an estimate"
    given = Module(SCALE)["scale"].profile((3, 1), 128, 0, x, 2.0, 300, registers=128)
    assert given.figures["shapes"][0]["occupancy"]["blocks_by_registers"] == 4  # 4096 a warp, 16 warps
    assert "PTX line" in str(profile) and "PTX line" not in profile.report(lines=0)
    with pytest.raises(Fault, match="just after the end"):
        Module(SCALE)["scale"].profile(3, 128, 0, numbers(), 2.0, 301)
    with pytest.raises(ValueError, match="registers"):
        Module(SCALE)["scale"].profile(3, 128, 0, x, 2.0, 300, registers=256)
    with pytest.raises(ValueError, match="lines"):
        profile.report(lines=-1)


def test_tensors_of_pytorchs_and_other_memory():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")
    scale = Module(SCALE)["scale"]
    x = torch.arange(300, dtype=torch.float32)
    scale(3, 128, 0, x[100:200], 2.0, 100)  # a part of it
    assert (x[100:200] == 2 * torch.arange(100, 200)).all() and x[99] == 99 and x[200] == 200
    with pytest.raises(Fault, match="just after the end"):
        scale(3, 128, 0, x[100:200], 2.0, 101)
    with pytest.raises(Fault, match="not aligned|misaligned|multiple"):
        scale(1, 32, 0, torch.zeros(130, dtype=torch.uint8)[2:], 2.0, 32)
    words = bytearray(np.float32([1, 2, 3]).tobytes())
    scale(1, 32, 0, words, np.float32(3), np.uint32(3))
    assert np.frombuffer(words, np.float32).tolist() == [3, 6, 9]


def test_arguments_have_the_bits_of_their_parameters():
    out = np.zeros(7, np.uint64)
    Module(PARAMETERS)["parameters"](
        1, 1, 0, out, True, -2, 2**32 - 1, -1, 0.1, np.int32([7, 8, 9]).tobytes())
    assert out.tolist() == [1, 0xFFFE, 0xFFFFFFFF, 2**64 - 1, int(np.float64(0.1).view(np.uint64)), 8, 9]


@pytest.mark.parametrize("arguments, error, words", [
    ((2.0, 300), TypeError, "3 parameters; 2 arguments"),
    ((numbers(), 2.0, 2**32), ValueError, "argument 2 is 4294967296; the parameter has 4 bytes"),
    ((numbers(), 2.0, -2**31 - 1), ValueError, "argument 2"),
    ((numbers(), None, 300), TypeError, "argument 1 is None"),
    ((numbers(), numbers(), 300), TypeError, "argument 1 is an array; the parameter has 4 bytes"),
    ((numbers(), np.float64(2), 300), ValueError, "argument 1 has 8 bytes; the parameter has 4"),
    (("x", 2.0, 300), TypeError, "argument 0 is of type str"),
    ((numbers(600)[::2], 2.0, 300), ValueError, r"strides of \(8,\) bytes; expected a contiguous array"),
])
def test_wrong_arguments_are_named(arguments, error, words):
    with pytest.raises(error, match=words):
        Module(SCALE)["scale"](3, 128, 0, *arguments)


def test_an_access_out_of_bounds_is_a_fault_that_says_where():
    x = numbers()
    with pytest.raises(Fault, match="just after the end of an allocation of 1200 bytes") as raised:
        Module(SCALE)["scale"](3, 128, 0, x, 2.0, 301)
    fault = raised.value
    assert (fault.kind, fault.kernel, fault.block, fault.thread) == (
        "out_of_bounds", "scale", (2, 0, 0), (44, 0, 0))
    assert fault.instruction == SCALE.splitlines()[fault.ptx_line - 1].strip().rstrip(";")
    assert (x[:128] == 2 * numbers(128)).all()  # it is as the kernel left it


def test_neighbours_in_the_hosts_memory_are_none_on_the_device():
    both = numbers(128)
    with pytest.raises(Fault, match="reads .* just after the end of an allocation of 256 bytes"):
        Module(SHARED)["turn"](1, 128, 512, both[:64], both[64:], 1)


def test_arrays_that_overlap_do_so_on_the_device():
    z = numbers(96)
    Module(SHARED)["turn"](1, 64, 256, z[32:], z[:64], 1)
    assert (z[:64] == numbers(96)[32:]).all() and (z[64:] == numbers(96)[64:]).all()


def test_memory_that_must_not_be_written_or_is_not_there():
    scale = Module(SCALE)["scale"]
    x = numbers()
    x.flags.writeable = False
    with pytest.raises(Fault) as raised:
        scale(3, 128, 0, x, 2.0, 300)
    assert raised.value.kind == "read_only" and (x == numbers()).all()
    with pytest.raises(Fault, match="null pointer"):
        scale(3, 128, 0, None, 2.0, 300)
    scale(3, 128, 0, None, 2.0, 0)
    cut = numbers(301).view(np.uint8)[2:1202]  # as a GPU has it, two bytes behind a multiple of 256
    with pytest.raises(Fault) as raised:
        scale(3, 128, 0, cut, 2.0, 300)
    assert raised.value.kind == "misaligned"


def test_memory_that_no_kernel_has_written():
    device = Device("8.0")
    scale = Module(SCALE, device)["scale"]
    x = device.empty((10, 30), np.float32)
    assert x.shape == (10, 30) and x.dtype == np.float32
    with pytest.raises(Fault) as raised:
        scale(3, 128, 0, x, 2.0, 300)
    assert raised.value.kind == "uninitialised_global"
    y = device.empty(64, np.float32)
    turn = Module(SHARED, device)["turn"]
    turn(1, 64, 256, numbers(64), y, 1)
    scale(1, 64, 0, y, 2.0, 64)
    expected = 2 * numbers(64)
    assert (y == expected).all()
    with pytest.raises(Refused) as raised:
        Device(memory=1 << 20).empty(2**18 + 1, np.float32)
    assert raised.value.reason == "out_of_memory"
    del device, scale, turn
    gc.collect()
    assert (y == expected).all()  # the memory lives as long as its array


def test_races_and_holes_in_shared_memory_are_faults():
    turn = Module(SHARED)["turn"]
    x, y = numbers(64), np.zeros(64, np.float32)
    turn(1, 64, 256, x, y, 1)
    assert (y == x).all()
    to_one_place = Module(SHARED.replace("mad.lo.u32 %r5, %r2, 4, %r4;", "mov.u32 %r5, %r4;"))["turn"]
    with pytest.raises(Fault) as raised:
        to_one_place(1, 64, 256, x, y, 0)
    assert raised.value.kind == "race"
    with pytest.raises(Fault) as raised:
        turn(1, 32, 256, x, y, 1)  # the other half is never written
    assert raised.value.kind == "uninitialised_shared"
    unchecked = Module(SHARED, Device("8.0", check=False))["turn"]
    unchecked(1, 32, 256, x, y, 1)


def test_what_cuda_refuses_is_refused():
    scale = Module(SCALE)["scale"]
    for grid, block, shared, reason in [
        (0, 128, 0, "invalid_configuration"),
        (1, 2048, 0, "invalid_configuration"),
        (1, 128, 164 * 1024, "invalid_value"),
    ]:
        with pytest.raises(Refused) as raised:
            scale(grid, block, shared, numbers(), 2.0, 1)
        assert raised.value.reason == reason
    scale(1, 128, 163 * 1024, numbers(), 2.0, 1)
    lacks = Module(SCALE.replace("mul.f32 %f3, %f1, %f2", "tex.1d.v4.f32.s32 {%f3, _, _, _}, [tex0, {%r1}]")
                   .replace(".visible", ".global .texref tex0;\n.visible", 1))
    assert "tex" in lacks["scale"].missing
    with pytest.raises(Refused, match="tex") as raised:
        lacks["scale"](1, 128, 0, numbers(), 2.0, 1)
    assert raised.value.reason == "not_supported"


def test_ptx_that_cannot_be_read_is_refused_with_its_line():
    with pytest.raises(BadPtx, match="PTX line 4") as raised:
        Module(HEAD + "visible .entry f() { ret; }")
    assert raised.value.line == 4
    assert Module(SCALE.replace("sm_80", "sm_52")).device.compute == "9.0"  # as on any later GPU
    with pytest.raises(ValueError, match="compute is"):
        Module(SCALE.replace("sm_80", "sm_130"))
    with pytest.raises(KeyError, match="no kernel 'saxpy'; there are scale"):
        Module(SCALE)["saxpy"]


@pytest.mark.parametrize("arguments, words", [
    ({"compute": "1.0"}, 'compute is "1.0"; expected 7.5, 8.0'),
    ({"approximate": "upwards"}, 'approximate is "upwards"; expected nearest, down'),
    ({"sums": "volta"}, 'sums is "volta"'),
    ({"order_seed": -1}, 'order_seed is "-1"'),
    ({"threads": "all"}, "threads is 'all'; expected a whole number"),
    ({"threads": 0}, "threads is 0; expected a number from 1"),
    ({"approximate": ""}, "approximate is ''; expected one of its values"),
    ({"sums": ""}, "sums is ''; expected one of its values"),
    ({"memory": 0.5}, "memory is"),
    ({"time_limit": -1}, "time_limit is"),
])
def test_wrong_settings_of_a_device_are_refused(arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        Device(**arguments)


@pytest.mark.parametrize("ptx, device, words", [
    (None, None, "ptx is None; expected PTX as a str"),
    (SCALE.encode(), None, "ptx is b'.*; expected PTX as a str"),
    (SCALE, "8.0", "device is '8.0'; expected a plumbline.device.Device, or None"),
])
def test_wrong_arguments_of_a_module_are_named(ptx, device, words):
    with pytest.raises(TypeError, match=words):
        Module(ptx, device)


@pytest.mark.parametrize("dtype", [object, [("x", "f4"), ("y", object)]])
def test_pythons_objects_are_no_memory_of_a_kernel(dtype):
    with pytest.raises(TypeError, match="argument 0 has dtype .*; expected numbers, not Python's objects"):
        Module(SCALE)["scale"](1, 32, 0, np.zeros(32, dtype), 2.0, 32)


def test_the_shape_of_memory_is_a_number_or_several():
    device = Device()
    assert device.empty(np.int64(3), np.float32).shape == (3,)
    with pytest.raises(TypeError, match="shape is 1.5; expected a whole number"):
        device.empty(1.5, np.float32)
    with pytest.raises(ValueError, match="bytes of shape is 36893488147419103232; expected a number from 0"):
        device.empty(2**62, np.float64)


def test_approximations_go_the_way_that_is_asked_for():
    ptx = SCALE.replace("mul.f32 %f3, %f1, %f2", "ex2.approx.f32 %f3, %f2")
    at = {}
    for way in ("down", "nearest", "up"):
        x = np.full(32, 0.3, np.float32)
        Module(ptx, Device("8.0", approximate=way, threads=1))["scale"](1, 32, 0, x, 2.0, 32)
        at[way] = x[0]
    assert at["down"] < at["nearest"] < at["up"]
    assert abs(at["nearest"] - np.exp2(np.float64(np.float32(0.3)))) < 2.0**-23
