# SPDX-License-Identifier: Apache-2.0
"""Calls a function as the judge calls a kernel: arrays in, arrays out, all of them in raw memory."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._frameworks import BITS, EIGHT_BITS, Refusal
from .device import variation

PACKED = ("cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k")
"""Keywords of a function of packed sequences."""
_WHOLE = ("lengths", "documents", "page_table", *PACKED[:2])
_BOOLEANS = ("mask", "keep")
_INPUTS = ("q", "k", "v")
_OUTPUTS = ("o", "grad_o", "grad_q", "grad_k", "grad_v")
_GRADIENTS = _OUTPUTS[2:]
SCALES = ("q_scale", "k_scale", "v_scale")
Memory = tuple[bytes, list[int], Optional[list[int]]]
"""An array's memory, its shape and, where its rows do not lie one after the other, its strides, in numbers."""


class NoLse(BaseException):
    """The function returned only o, but its contract has an lse. No Exception, so it ends the check."""


@dataclasses.dataclass
class Runner:
    """What _native.check calls for each pass of each case."""

    function: Callable[..., Any]
    backward: Union[Callable[..., Any], bool, None]
    framework: Any
    format: str
    """Of q, k and v: fp32, fp16, bf16, e4m3 or e5m2. Also of o, grad_o and gradients (8 bits: bf16)."""
    method: str
    parameters: list[str]
    settings: list[str]
    """The keyword arguments that the function takes besides parameters and options."""
    fixed_options: set[str]
    """Those that the function does not take."""
    lse_format: str = "fp32"
    """Format in which lse may be returned; it is judged as float32."""
    float_o: bool = False
    float_gradients: bool = False
    """Whether o, and the gradients of q, k and v, are float32 by the contract."""
    lse_gradient: bool = False
    """Whether a gradient may come in through lse: backward then takes grad_lse."""
    cache: str = "in_format"
    """The format of its k and v: in_format, or that of a cache of 8 bits."""
    has_lse: Optional[bool] = None
    """Whether the function returned lse in its first call."""
    on_software_device: bool = False
    """Whether the function has launched kernels on devices of which a check asks all variations."""

    def __call__(
        self,
        problem: dict[str, Any],
        inputs: dict[str, Memory],
        outputs: dict[str, Memory],
    ) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """The bytes of the inputs after the call, for the judge to compare, and of the outputs."""
        self.cache = problem["cache"]
        copies = {name: self._bits(name, *memory) for name, memory in inputs.items()}
        results = {name: self._bits(name, *memory) for name, memory in outputs.items()}
        if problem["pass"] == "decode":
            copies.setdefault("lengths", np.full(len(copies["q"]), problem["keys"], np.int32))
        if "cu_seqlens_q" in copies:
            for name in ("q", "k"):
                problem[f"max_seqlen_{name}"] = int(np.diff(copies[f"cu_seqlens_{name}"]).max())
        given = {name: self.framework.give(bits, self._format(name)) for name, bits in copies.items()}
        with variation(problem["variation"]) as asked:
            try:
                if problem["pass"] == "backward":
                    self._backward(problem, given, results)
                else:
                    self._forward(problem, given, results)
            finally:
                self.on_software_device = self.on_software_device or asked.launched
        for name, bits in copies.items():
            self.framework.read_back(given[name], bits)
        return _bytes(copies), _bytes(results)

    def _format(self, name: str) -> str:
        if name in _INPUTS:
            return self.format if name == "q" or self.cache == "in_format" else self.cache
        if name == "prefix_sums":
            return "fp64"
        if (self.float_o and name == "o") or (self.float_gradients and name in _GRADIENTS):
            return "fp32"
        if name in _OUTPUTS:
            return "bf16" if self.format in EIGHT_BITS else self.format
        return "int32" if name in _WHOLE else "bool" if name in _BOOLEANS else "fp32"

    def _bits(self, name: str, memory: bytes, shape: list[int], strides: Optional[list[int]]) -> NDArray[Any]:
        """A copy that lies as the memory does; its base is all of it."""
        whole = np.frombuffer(memory, BITS[self._format(name)]).copy()
        in_bytes = None if strides is None else [stride * whole.itemsize for stride in strides]
        return np.ndarray(shape, whole.dtype, whole, 0, in_bytes)

    def _keywords(self, problem: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        """The function's keyword arguments: parameters, options and the enabled settings."""
        keywords = {name: given[name] for name in self.parameters}
        keywords.update((n, x) for n, x in problem["options"].items() if n not in self.fixed_options)
        for name in self.settings:
            value = problem[name] if name in problem else given.get(name)
            keywords[name] = tuple(value) if isinstance(value, list) else value
        return keywords

    def _forward(
        self,
        problem: dict[str, Any],
        given: dict[str, Any],
        results: dict[str, NDArray[Any]],
    ) -> None:
        returned = self.function(given["q"], given["k"], given["v"], **self._keywords(problem, given))
        o, lse = _o_and_lse(returned)
        self._put(results, "o", o)
        if "lse" not in results:  # the contract has none
            if lse is not None and self.has_lse is False:
                raise Refusal("the function returned o and lse; expected o alone, as in its first call")
            return
        if lse is None and self.has_lse:
            raise Refusal("the function returned o alone; expected o and lse, as in its first call")
        self.has_lse = lse is not None
        if lse is None:
            raise NoLse
        if self.lse_format == "fp32":
            self._put(results, "lse", lse)
        else:
            into = results["lse"]
            bits = self.framework.take("lse", lse, into.shape, self.lse_format)
            into[...] = _widened(bits, self.lse_format)

    def _backward(
        self, problem: dict[str, Any], given: dict[str, Any], results: dict[str, NDArray[Any]]
    ) -> None:
        inputs = [name[len("grad_") :] for name in results]
        keywords = self._keywords(problem, given)
        if callable(self.backward):
            arguments = [given.get(name) for name in ("grad_o", "q", "k", "v", "o", "lse")]
            of_lse = {"grad_lse": given.get("grad_lse")} if self.lse_gradient else {}
            returned = self.backward(*arguments, **of_lse, **keywords)
        else:

            def outputs_of(*arrays: Any) -> Any:
                by_name = dict(zip(inputs, arrays))
                q, k, v = (by_name.pop(name) for name in ("q", "k", "v"))
                o, lse = _o_and_lse(self.function(q, k, v, **{**keywords, **by_name}))
                if lse is None and "grad_lse" in given:
                    raise Refusal("the function returned no lse; expected one, which lse_gradient=True differentiates")
                return o, lse

            grad_o = self.framework.in_float(given["grad_o"]) if self.float_o else given["grad_o"]
            returned = self.framework.gradients(outputs_of, [given[n] for n in inputs], grad_o, given.get("grad_lse"))
        gradients = _by_name(returned, inputs, keywords)
        for name in inputs:
            self._put(results, "grad_" + name, gradients[name])

    def _put(self, results: dict[str, NDArray[Any]], name: str, array: Any) -> None:
        into = results[name]
        into[...] = self.framework.take(name, array, into.shape, self._format(name))


def _bytes(arrays: dict[str, NDArray[Any]]) -> dict[str, bytes]:
    """With what lies between their rows."""
    return {name: (bits if bits.base is None else bits.base).tobytes() for name, bits in arrays.items()}


def _o_and_lse(returned: Any) -> tuple[Any, Optional[Any]]:
    if not isinstance(returned, (tuple, list)):
        return returned, None
    if len(returned) != 2:
        raise Refusal(f"the function returned {len(returned)} things; expected o, or o and lse")
    return returned[0], returned[1]


def _by_name(returned: Any, inputs: list[str], keywords: dict[str, Any]) -> Mapping[str, Any]:
    """Those of other keywords, such as ALiBi's slopes, are not judged."""
    if isinstance(returned, Mapping):
        missing = [name for name in inputs if name not in returned]
        if missing:
            raise Refusal(f"backward returned no gradient of {', '.join(missing)}")
        unknown = [repr(name) for name in returned if name not in inputs and name not in keywords]
        if unknown:
            raise Refusal(f"backward returned a gradient of {', '.join(unknown)}; expected those of "
                          f"{', '.join(inputs)}")
        return returned
    if not isinstance(returned, (tuple, list)) or len(returned) != len(inputs):
        raise Refusal(f"backward returned something else than the gradients of {', '.join(inputs)}")
    return dict(zip(inputs, returned))


def _widened(bits: NDArray[Any], format: str) -> NDArray[Any]:
    if format == "bf16":
        bits = (bits.astype(np.uint32) << 16).view(np.float32)
    elif format == "fp16":
        bits = bits.view(np.float16)
    return np.ascontiguousarray(bits, dtype=np.float32)
