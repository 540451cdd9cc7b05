# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton's on the software device: compiled by Triton, which needs no GPU for that."""

from __future__ import annotations

import re
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _native
from .device import Counts, Device, Kernel, Module, Profile, axes, memory_of

Grid = Union[Sequence[int], Callable[[dict[str, Any]], Sequence[int]]]

_TYPES = {
    "bool": "u1",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
    "int64": "i64",
    "uint64": "u64",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
}


def triton(
    kernel: Any,
    *,
    grid: Grid,
    constants: Optional[Mapping[str, Any]] = None,
    target: str = "sm_80",
    num_warps: int = 4,
    num_stages: int = 3,
    device: Optional[Device] = None,
    **options: Any,
) -> TritonKernel:
    """A kernel of Triton's as a function of NumPy arrays and PyTorch's tensors in this machine's memory.

    kernel: decorated by @triton.jit; of one with @triton.autotune or @triton.heuristics, its .fn.
    grid: of programs, or a function of the arguments by name, as in Triton.
    constants: arguments that never change, such as those that are tl.constexpr.
    target: sm_80, sm_90, ... Triton then emits what it emits for such a GPU.
    num_warps, num_stages, options: as Triton's launch takes them.
    device: where it runs; None: a plumbline.device.Device of the target's compute capability.

    Needs the package triton, but no GPU. The kernel is compiled for each new combination of types, and,
    as Triton does it, of pointers and ints that 16 divides and of ints that are 1.
    """
    return TritonKernel(kernel, grid, dict(constants or {}), target, num_warps, num_stages, device, options)


class TritonKernel:
    """What `plumbline.triton` returns; a call launches the kernel and waits for it.

    The arguments are the kernel's, by place or name. Returns plumbline.device.Counts; raises
    plumbline.device.Fault and Refused, TypeError, and what Triton's compiler raises. `profile` takes the
    same arguments, does the same, and returns a plumbline.device.Profile.
    """

    def __init__(
        self,
        kernel: Any,
        grid: Grid,
        constants: dict[str, Any],
        target: str,
        num_warps: int,
        num_stages: int,
        device: Optional[Device],
        options: dict[str, Any],
    ) -> None:
        if not hasattr(kernel, "arg_names") or not hasattr(kernel, "params") or hasattr(kernel, "configs"):
            raise TypeError(f"kernel is {kernel!r}; expected a function decorated by @triton.jit alone")
        parts = re.fullmatch(r"sm_(\d+)(\d)a?", target) if isinstance(target, str) else None
        if parts is None:
            raise ValueError(f"target is {target!r}; expected sm_80, sm_90, ...")
        unknown = [name for name in constants if name not in kernel.arg_names]
        if unknown:
            raise TypeError(f"constants has {unknown[0]!r}, which is no argument of the kernel")
        self.device = Device(f"{parts[1]}.{parts[2]}") if device is None else device
        self._kernel, self._grid, self._constants = kernel, grid, constants
        self._architecture = int(parts[1] + parts[2])
        self._options = {"num_warps": num_warps, "num_stages": num_stages, **options}
        self._compiled: dict[Any, tuple[Any, Kernel]] = {}

    def __call__(self, *arguments: Any, **keywords: Any) -> Counts:
        kernel, launch, options = self._prepared(self._bound(arguments, keywords))
        return kernel.launch(*launch, **options)

    def profile(self, *arguments: Any, **keywords: Any) -> Profile:
        """Launches the kernel as a call does, and counts what decides its speed."""
        given = self._bound(arguments, keywords)
        kernel, launch, options = self._prepared(given)
        registers = _native.registers_in(self._of(given)[0].asm.get("cubin", b"")).get(kernel.name)
        return kernel.launch_profiled(*launch, **options, registers=registers)

    def _prepared(self, given: dict[str, Any]) -> tuple[Kernel, tuple[Any, ...], dict[str, Any]]:
        """The compiled kernel, and what its launch takes."""
        compiled, kernel = self._of(given)
        grid = axes("grid", self._grid(given) if callable(self._grid) else self._grid)
        names = [name for name, (type, _) in self._specialised(given).items() if type != "constexpr"]
        values = [x.item() if isinstance(x, np.generic) else x for x in map(given.get, names)]
        # Memory for itself that the compiler asks for stands behind the kernel's own parameters.
        programs = int(np.prod(grid, dtype=np.int64))
        for name in ("global_scratch", "profile_scratch")[: kernel.parameter_count - len(names)]:
            size = getattr(compiled.metadata, name + "_size", 0) * programs
            values.append(self.device.empty(size, np.uint8) if size else None)
            names.append(name)
        launch = grid, 32 * compiled.metadata.num_warps, compiled.metadata.shared, values
        return kernel, launch, {"names": names, "strided": True}

    def ptx(self, *arguments: Any, **keywords: Any) -> str:
        """The PTX that a call with these arguments runs."""
        text: str = self._of(self._bound(arguments, keywords))[0].asm["ptx"]
        return text

    def _bound(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Every argument by name."""
        bound = self._kernel.signature.bind(*arguments, **{**self._constants, **keywords})
        bound.apply_defaults()
        return dict(bound.arguments)

    def _specialised(self, given: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
        """Of each argument its type in Triton, and a constant's value or whether 16 divides it."""
        specialised = {}
        for parameter in self._kernel.params:
            value = given[parameter.name]
            if parameter.is_constexpr or value is None:
                specialised[parameter.name] = ("constexpr", value)
                continue
            declared = parameter.annotation_type
            aligned = not parameter.do_not_specialize and not parameter.do_not_specialize_on_alignment
            if isinstance(value, (bool, np.bool_)):
                specialised[parameter.name] = (declared or "u1", False)
            elif isinstance(value, (float, np.floating)):
                specialised[parameter.name] = (declared or "fp32", False)
            elif isinstance(value, (int, np.integer)):
                if value == 1 and not parameter.do_not_specialize:
                    specialised[parameter.name] = ("constexpr", 1)
                else:
                    type = "i32" if -(2**31) <= value < 2**31 else "i64" if value < 2**63 else "u64"
                    specialised[parameter.name] = (declared or type, aligned and value % 16 == 0)
            else:
                type = declared or _pointer(parameter, value)
                skew = memory_of(parameter.name, value, strided=True).skew
                specialised[parameter.name] = (type, aligned and skew % 16 == 0)
        return specialised

    def _of(self, given: Mapping[str, Any]) -> tuple[Any, Kernel]:
        """The kernel for such arguments: compiled when they come for the first time."""
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource

        specialised = self._specialised(given)
        key = tuple((name, type, repr(of)) for name, (type, of) in specialised.items())
        if key not in self._compiled:
            numbered = list(enumerate(specialised.values()))
            source = ASTSource(
                fn=self._kernel,
                signature={name: type for name, (type, _) in specialised.items()},
                constexprs={(n,): of for n, (type, of) in numbered if type == "constexpr"},
                attrs={(n,): [["tt.divisibility", 16]] for n, (type, of) in numbered
                       if type != "constexpr" and of},
            )
            compiled = triton.compile(source, target=GPUTarget("cuda", self._architecture, 32),
                                      options=self._options)
            unknown = [name for name in self._options if not hasattr(compiled.metadata, name)]
            if unknown:  # Triton's compiler takes no notice of it
                raise TypeError(f"{unknown[0]} is {self._options[unknown[0]]!r}; expected an option of Triton's")
            module = Module(_with_lines_of_assembly(compiled.asm["ptx"]), self.device)
            self._compiled[key] = compiled, module[compiled.metadata.name]
        return self._compiled[key]


def _with_lines_of_assembly(ptx: str) -> str:
    """LLVM counts the source's line up with each line of inline assembly, of which Triton makes its loads
    and stores. They are of the line before it."""

    def without_lines(assembly: re.Match[str]) -> str:
        return re.sub(r"^[ \t]*\.loc\b.*$", "", assembly[0], flags=re.MULTILINE)

    return re.sub(r"// begin inline asm.*?// end inline asm", without_lines, ptx, flags=re.DOTALL)


def _pointer(parameter: Any, array: Any) -> str:
    type = str(getattr(array, "dtype", "")).replace("torch.", "")
    if type not in _TYPES:
        raise TypeError(f"{parameter.name} is a {array.__class__.__name__} of {type or 'no dtype'}; expected "
                        "an array of NumPy's, a tensor of PyTorch's, or a number")
    return ("*k" if parameter.is_const else "*") + _TYPES[type]
