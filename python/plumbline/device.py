# SPDX-License-Identifier: Apache-2.0
"""A CUDA device in software: runs kernels given as PTX on this machine's CPU, on its arrays.

    scale = plumbline.device.Module(open("scale.ptx").read())["scale"]
    scale((4, 1, 1), 128, 0, numbers, 2.0, 512)

What a kernel does wrong raises Fault: an access out of bounds, a race, shared memory that was never
written. docs/software_device.md tells what is checked and what is not.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import json
import re
import struct
import threading
from typing import Any, Iterator, Optional, Sequence, Union

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _native
from ._arguments import truth, whole

__all__ = ["VARIATIONS", "BadPtx", "Counts", "Device", "Fault", "Kernel", "Module", "Profile", "Refused",
           "variation"]


class Fault(RuntimeError):
    """What a kernel did wrong. Arrays that it had written to are as it left them."""

    kind: str
    """out_of_bounds, freed_memory, read_only, misaligned, uninitialised_global,
    uninitialised_shared, race, copy_in_flight, registers_in_flight, proxy_fence, barrier, deadlock, divergent,
    absent_lane, trap, assertion, timeout or bad_instruction."""
    kernel: str
    instruction: str
    """As it stands in the PTX."""
    ptx_line: int
    source: str
    """FILE:LINE from which the instruction was compiled, if the PTX says so."""
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    address: Optional[int]
    """On the device, of the access that the message names, if any."""

    def __init__(
        self,
        message: str,
        kind: str,
        kernel: str,
        instruction: str,
        ptx_line: int,
        source: str,
        block: tuple[int, int, int],
        thread: tuple[int, int, int],
        address: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.kind, self.kernel, self.instruction = kind, kernel, instruction
        self.ptx_line, self.source, self.block, self.thread = ptx_line, source, block, thread
        self.address = address


class Refused(RuntimeError):
    """A launch or an allocation that CUDA would refuse, or an instruction that the device lacks."""

    reason: str
    """invalid_value, invalid_configuration, invalid_cluster, out_of_resources, out_of_memory, no_such_name or
    not_supported."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class BadPtx(ValueError):
    """PTX that cannot be read."""

    line: int
    """Counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclasses.dataclass(frozen=True)
class Counts:
    """What a launch did."""

    warp_instructions: int
    thread_instructions: int


@dataclasses.dataclass(frozen=True)
class Profile:
    """What a launch did, counted. print() shows it as `plumbline profile` does.

    PTX is counted, not the machine code that a GPU runs: docs/software_device.md explains the figures.
    """

    figures: dict[str, Any]
    """What the files of `plumbline profile --json` have of a kernel: profile.figures["total"]["flops"]."""
    _record: str = dataclasses.field(repr=False)

    def report(self, lines: int = 10) -> str:
        """As text. lines: how many lines of the source to show."""
        return _native.profile_report(self._record, whole("lines", lines, 0, 2**31))

    def __str__(self) -> str:
        return self.report()


VARIATIONS = tuple(_native.variations())
"""Ways to do what hardware leaves open, in words. `plumbline.check` asks devices that do it in each."""


@dataclasses.dataclass
class Variation:
    """What `variation` asks of devices."""

    number: int
    launched: bool = False
    """Whether a device was asked."""


_asked: contextvars.ContextVar[Optional[Variation]] = contextvars.ContextVar("variation", default=None)
# Of all threads, the latest last: what threads that ask for nothing themselves get, such as those in which a
# framework computes gradients.
_asked_anywhere: list[Variation] = []


@contextlib.contextmanager
def variation(number: int) -> Iterator[Variation]:
    """Within `with variation(n):` devices do what hardware leaves open as VARIATIONS[n] says, but for those
    with a choice of their own. Launches from other threads do, too, unless these are within a `with
    variation(...)` of their own.

    Raises ValueError for other numbers.
    """
    asked = Variation(whole("variation", number, 0, len(VARIATIONS) - 1))
    before = _asked.set(asked)
    _asked_anywhere.append(asked)
    try:
        yield asked
    finally:
        # Not remove(), which takes an equal one of another thread.
        _asked_anywhere[:] = [other for other in _asked_anywhere if other is not asked]
        _asked.reset(before)


def _asked_here() -> Optional[Variation]:
    own = _asked.get()
    if own is not None:
        return own
    anywhere = tuple(_asked_anywhere)
    return anywhere[-1] if anywhere else None


# How the settings of a device are called in the environment of other programs.
_VARIABLES = {
    "compute": "PLUMBLINE_DEVICE_COMPUTE",
    "memory": "PLUMBLINE_DEVICE_MEMORY",
    "threads": "PLUMBLINE_DEVICE_THREADS",
    "check": "PLUMBLINE_DEVICE_CHECK",
    "time_limit": "PLUMBLINE_DEVICE_TIME_LIMIT",
    "approximate": "PLUMBLINE_DEVICE_APPROXIMATE",
    "sums": "PLUMBLINE_DEVICE_SUMS",
    "fuse": "PLUMBLINE_DEVICE_FUSE",
    "order_seed": "PLUMBLINE_DEVICE_ORDER",
}
_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)(\d)", re.MULTILINE)


class Device:
    """One device, with memory and the modules that are loaded into it.

    compute: its compute capability, whose limits it has: 7.5, 8.0, 8.6, 8.9, 9.0, 10.0 or 12.0.
    threads: of the CPU; None: as many as there are. The results are the same bits.
    check: False: only the bounds of memory are checked.
    memory: bytes that `empty` gives at most, of all arrays together.
    time_limit: seconds that a launch may take; None: any.

    The others choose what hardware leaves open; a right kernel is right with each choice. With all of
    them None, each is the first of its values, and `plumbline.check` asks VARIATIONS in turn.
    approximate: results of ex2, rcp, ... with .approx: "nearest", or displaced "down", "up" or to
        "either" side by as much as the PTX ISA allows.
    sums: of mma and wgmma: "nearest", or truncated as on "ampere" or on "hopper".
    fuse: mul and add (sub) in f32 and f64 without a rounding mode become one fma, as ptxas may do.
    order_seed: 0: blocks, warps and atomics in the order of their numbers; else another order.

    Raises ValueError for other values.
    """

    def __init__(
        self,
        compute: str = "9.0",
        *,
        threads: Optional[int] = None,
        check: bool = True,
        memory: int = 8 << 30,
        time_limit: Optional[float] = None,
        approximate: Optional[str] = None,
        sums: Optional[str] = None,
        fuse: Optional[bool] = None,
        order_seed: Optional[int] = None,
    ) -> None:
        if "" in (approximate, sums):  # to the environment the same as nothing
            raise ValueError(f"{'sums' if sums == '' else 'approximate'} is ''; expected one of its values, or None")
        self.compute = compute
        self._varies = approximate is None and sums is None and fuse is None and order_seed is None
        self._launching = threading.Lock()
        settings = {
            "compute": compute,
            "memory": memory,
            "threads": None if threads is None else whole("threads", threads, 1, 4096),
            "check": int(truth("check", check)),
            "time_limit": time_limit,
            "approximate": approximate,
            "sums": sums,
            "fuse": None if fuse is None else int(truth("fuse", fuse)),
            "order_seed": order_seed,
        }
        try:
            self._native = _native.Device(
                {_VARIABLES[name]: str(value) for name, value in settings.items() if value is not None})
        except Refused as refused:
            variable, said = str(refused).split(" ", 1)
            names = {variable: name for name, variable in _VARIABLES.items()}
            raise ValueError(f"{names[variable]} {said}") from None

    @contextlib.contextmanager
    def _as_asked(self) -> Iterator[_native.Device]:
        """What launches, on the variation that is asked for."""
        with self._launching:
            if self._varies:
                asked = _asked_here()
                self._native.vary(asked.number if asked else 0)
                if asked:
                    asked.launched = True
            yield self._native

    def empty(self, shape: Union[int, Sequence[int]], dtype: DTypeLike) -> NDArray[Any]:
        """An array in the device's memory that counts as not initialised.

        A kernel that reads what no kernel has written is a Fault, also where this process has written
        it: what it fills should be an ordinary array.
        """
        dtype = np.dtype(dtype)
        sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        count = 1
        for size in sizes:
            count *= whole("shape", size, 0, None)
        memory: NDArray[Any] = self._native.allocate(whole("bytes of shape", count * dtype.itemsize, 0, 2**63 - 1))
        return memory.view(dtype).reshape(sizes)


class Module:
    """PTX that is loaded into a device. `module["name"]` is its kernel of that (mangled) name.

    device: None: a new one of the compute capability that the PTX was compiled for, or a later one.

    Raises BadPtx, TypeError. An instruction that the device lacks refuses its kernel's launch only.
    """

    def __init__(self, ptx: str, device: Optional[Device] = None) -> None:
        if not isinstance(ptx, str):
            raise TypeError(f"ptx is {repr(ptx)[:60]}; expected PTX as a str")
        if not (device is None or isinstance(device, Device)):
            raise TypeError(f"device is {device!r}; expected a plumbline.device.Device, or None")
        if device is None:
            device = _device_for(_TARGET.search(ptx))
        self.device = device
        self._module = device._native.load(ptx)

    def __del__(self) -> None:
        if hasattr(self, "_module"):
            self.device._native.unload(self._module)

    @property
    def kernels(self) -> list[str]:
        """The names of its kernels."""
        return list(self.device._native.kernel_names(self._module))

    def __getitem__(self, name: str) -> Kernel:
        if name not in self.kernels:
            raise KeyError(f"no kernel {name!r}; there are {', '.join(self.kernels) or 'none'}")
        return Kernel(self, name)


class Kernel:
    """A kernel of a module: `kernel(grid, block, shared, *arguments)` launches it and waits.

    grid, block: a number, or up to three. shared: bytes of dynamic shared memory.
    arguments: one for each parameter, typed by the parameter's size: arrays (NumPy's, PyTorch's on the
    CPU, any buffer; contiguous) and None for pointers, ints of 1 to 8 bytes, floats of 4 or 8 bytes,
    scalars of NumPy's and bytes for parameters of exactly their size.

    For the launch, each array lies in memory of its own, aligned as cudaMalloc aligns; then it has what
    the kernel has written. Overlapping arrays share memory.

    `kernel.profile(grid, block, shared, *arguments)` does the same and counts more of it.

    Returns Counts. Raises Fault, Refused, TypeError, ValueError.
    """

    def __init__(self, module: Module, name: str) -> None:
        self.module, self.name = module, name
        info = module.device._native.info(module._module, name)
        self.registers: int = info["registers"]
        """32-bit registers that are live at once: an estimate of what ptxas needs."""
        self.static_shared_bytes: int = info["static_shared_bytes"]
        self.missing: str = info["missing"]
        """The first instruction that the device lacks, with its line; or empty."""
        self._parameters: list[tuple[int, int]] = info["parameters"]
        self.parameter_count = len(self._parameters)
        self._parameter_bytes: int = info["parameter_bytes"]

    def __call__(
        self,
        grid: Union[int, Sequence[int]],
        block: Union[int, Sequence[int]],
        shared: int,
        *arguments: Any,
    ) -> Counts:
        return self.launch(grid, block, shared, arguments)

    def profile(
        self,
        grid: Union[int, Sequence[int]],
        block: Union[int, Sequence[int]],
        shared: int,
        *arguments: Any,
        registers: Optional[int] = None,
    ) -> Profile:
        """Launches it as a call does, and counts what decides its speed: instructions by pipe, bank
        conflicts, sectors of global memory, divergence, occupancy. It takes several times as long.

        registers: of a thread, as `ptxas -v` tells them; None: an estimate."""
        return self.launch_profiled(grid, block, shared, arguments, registers=registers)

    def launch(
        self,
        grid: Union[int, Sequence[int]],
        block: Union[int, Sequence[int]],
        shared: int,
        arguments: Sequence[Any],
        *,
        names: Optional[Sequence[str]] = None,
        strided: bool = False,
    ) -> Counts:
        """As a call. names: of the arguments, for errors. strided: arrays may have gaps; the kernel then
        may also touch what lies in the gaps."""
        given = self._native_arguments(grid, block, shared, arguments, names, strided)
        with self.module.device._as_asked() as native:
            return Counts(*native.launch(*given))

    def launch_profiled(
        self,
        grid: Union[int, Sequence[int]],
        block: Union[int, Sequence[int]],
        shared: int,
        arguments: Sequence[Any],
        *,
        names: Optional[Sequence[str]] = None,
        strided: bool = False,
        registers: Optional[int] = None,
    ) -> Profile:
        """As `profile`, with what `launch` takes."""
        registers = 0 if registers is None else whole("registers", registers, 1, 255)
        given = self._native_arguments(grid, block, shared, arguments, names, strided)
        with self.module.device._as_asked() as native:
            text, record = native.profile(*given, registers)
        return Profile(json.loads(text), record)

    def _native_arguments(
        self,
        grid: Union[int, Sequence[int]],
        block: Union[int, Sequence[int]],
        shared: int,
        arguments: Sequence[Any],
        names: Optional[Sequence[str]],
        strided: bool,
    ) -> tuple[Any, ...]:
        if len(arguments) != len(self._parameters):
            raise TypeError(f"{self.name} has {len(self._parameters)} parameters; {len(arguments)} "
                            "arguments were given")
        parameters = bytearray(self._parameter_bytes)
        memory: list[Memory] = []
        device = self.module.device._native
        for n, (argument, (offset, size)) in enumerate(zip(arguments, self._parameters)):
            name = names[n] if names else f"argument {n}"
            value = _value(name, argument, size)
            if value is None:
                array = memory_of(name, argument, strided=strided, offset=offset)
                if size != 8:
                    raise TypeError(f"{name} is an array; the parameter has {size} bytes, no pointer")
                if array.bytes > 0 and not device.has(array.address, array.bytes):
                    memory.append(array)
                    continue
                value = struct.pack("<Q", array.address)
            parameters[offset:offset + size] = value
        ranges, pointers = _ranges(memory)
        return (self.module._module, self.name, axes("grid", grid), axes("block", block),
                whole("shared", shared, 0, 2**31), bytes(parameters), ranges, pointers)


def _device_for(target: Optional[re.Match[str]]) -> Device:
    if target is None:
        return Device()
    try:
        return Device(f"{target[1]}.{target[2]}")
    except ValueError:
        if int(target[1]) >= 9:
            raise
        return Device()  # what is compiled for an earlier one runs there, too


def axes(name: str, given: Union[int, Sequence[int]]) -> tuple[int, int, int]:
    sizes = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"{name} has {len(sizes)} axes; expected 1 to 3")
    x, y, z = (whole(name, size, 0, 2**32 - 1) for size in (*sizes, 1, 1)[:3])
    return x, y, z


def _value(name: str, argument: Any, size: int) -> Optional[bytes]:
    """The bytes of a parameter that is no array. Raises TypeError and ValueError."""
    if argument is None:
        if size != 8:
            raise TypeError(f"{name} is None; the parameter has {size} bytes, no pointer")
        return bytes(8)
    if isinstance(argument, np.generic):
        argument = argument.tobytes()
    if isinstance(argument, bytes):
        if len(argument) != size:
            raise ValueError(f"{name} has {len(argument)} bytes; the parameter has {size}")
        return argument
    if isinstance(argument, (bool, int)):
        if size > 8 or not -(2 ** (8 * size - 1)) <= argument < 2 ** (8 * size):
            raise ValueError(f"{name} is {argument}; the parameter has {size} bytes")
        return (int(argument) % 2 ** (8 * size)).to_bytes(size, "little")
    if isinstance(argument, float):
        if size not in (4, 8):
            raise ValueError(f"{name} is a float; the parameter has {size} bytes: give a scalar of "
                             "NumPy's, or bytes")
        return np.float32(argument).tobytes() if size == 4 else struct.pack("<d", argument)
    return None


@dataclasses.dataclass
class Memory:
    """Where an array lies, for the parameter at `offset`."""

    offset: int
    address: int
    bytes: int
    writable: bool
    skew: int
    """What is left of its address when 256 divides it, if what it was cut out of lies as cudaMalloc
    would have laid it."""


def memory_of(name: str, array: Any, *, strided: bool, offset: int = 0) -> Memory:
    """Raises TypeError and ValueError."""
    if hasattr(array, "data_ptr"):  # PyTorch's
        if array.device.type != "cpu":
            raise ValueError(f"{name} is on {array.device}; expected memory of this machine")
        if hasattr(array, "is_neg") and array.is_neg():
            raise ValueError(f"{name} has its signs in a bit beside its numbers; expected what its resolve_neg() makes")
        item, address, shape, writable = array.element_size(), array.data_ptr(), tuple(array.shape), True
        strides = tuple(stride * item for stride in array.stride())
        skew = array.storage_offset() * item % 256
    else:
        if not isinstance(array, np.ndarray):
            try:
                array = np.asarray(memoryview(array))
            except TypeError:
                raise TypeError(f"{name} is of type {type(array).__name__}; expected an array, None, an "
                                "int, a float, a scalar of NumPy's or bytes") from None
        if array.dtype.hasobject:
            raise TypeError(f"{name} has dtype {array.dtype}; expected numbers, not Python's objects")
        item, address, shape = array.itemsize, array.ctypes.data, array.shape
        writable, strides = array.flags.writeable, array.strides
        whole_array = array
        while isinstance(whole_array.base, np.ndarray):
            whole_array = whole_array.base
        skew = (address - whole_array.ctypes.data) % 256
    if 0 in shape:
        return Memory(offset, address, 0, writable, skew)
    dense = item
    contiguous = True
    for length, stride in zip(reversed(shape), reversed(strides)):
        contiguous = contiguous and (length == 1 or stride == dense)
        dense *= length
    if not contiguous and not strided:
        raise ValueError(f"{name} has shape {shape} and strides of {tuple(strides)} bytes; expected a "
                         "contiguous array")
    steps = [(length - 1) * stride for length, stride in zip(shape, strides)]
    if min(steps, default=0) < 0:
        raise ValueError(f"{name} has a negative stride; expected an array that runs forwards")
    return Memory(offset, address, sum(steps) + item, writable, skew)


def _ranges(
    memory: list[Memory],
) -> tuple[list[tuple[int, int, bool, int]], list[tuple[int, int, int]]]:
    """The ranges that the arrays lie in, those that overlap as one, and the pointers into them."""
    ranges: list[tuple[int, int, bool, int]] = []
    pointers = []
    for array in sorted(memory, key=lambda array: array.address):
        if ranges and array.address < ranges[-1][0] + ranges[-1][1]:
            begin, length, writable, skew = ranges[-1]
            end = max(begin + length, array.address + array.bytes)
            ranges[-1] = (begin, end - begin, writable or array.writable, skew)
        else:
            ranges.append((array.address, array.bytes, array.writable, array.skew))
        pointers.append((array.offset, len(ranges) - 1, array.address - ranges[-1][0]))
    return ranges, pointers
