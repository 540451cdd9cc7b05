# SPDX-License-Identifier: Apache-2.0
"""What is compiled: the oracle, the judge and the software device, of native/plumbline_native.h."""

from __future__ import annotations

import builtins
import concurrent.futures
import ctypes
import json
import operator
import pathlib
import queue
import threading
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

_library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("lib") / "libplumbline_native.so"))
_ASK = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p))
_library.plumbline_native_call.argtypes = [ctypes.c_char_p, ctypes.c_char_p, _ASK, ctypes.POINTER(ctypes.c_void_p)]
_library.plumbline_native_free.argtypes = [ctypes.c_void_p]
_library.plumbline_native_free.restype = None
_library.plumbline_native_release.argtypes = [ctypes.c_uint64]
_library.plumbline_native_release.restype = None

# RapidCheck, by which the judge draws and shrinks cases, keeps what it is at in variables of the process.
_checking = threading.RLock()


def _call(function: str, *, ask: Any = _ASK(), **arguments: Any) -> Any:
    answer = ctypes.c_void_p()
    failed = _library.plumbline_native_call(function.encode(), _json(arguments), ask, ctypes.byref(answer))
    said = json.loads(ctypes.string_at(answer.value or 0))
    _library.plumbline_native_free(answer)
    if not failed:
        return said
    from . import device  # which imports this module

    error = getattr(device, said["type"], None) or getattr(builtins, said["type"])
    raise error(*(tuple(x) if isinstance(x, list) else x for x in said["arguments"]))


def _json(given: Any) -> bytes:
    text = json.dumps(given, ensure_ascii=False, allow_nan=False, default=_as_json)
    return text.encode("utf-8", "replace")  # half a surrogate pair in somebody's message


def _as_json(given: Any) -> Any:
    """What JSON has no word for; the caller's reference keeps the memory."""
    if isinstance(given, np.ndarray):
        return {"address": given.ctypes.data, "shape": given.shape}
    if isinstance(given, bytes):
        return {"address": np.frombuffer(given, np.uint8).ctypes.data, "bytes": len(given)}
    return operator.index(given)  # a whole number of NumPy's


class _Owner:
    """Of something of the library's, which is freed with it."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self, release: Any = _library.plumbline_native_release) -> None:
        number, self.number = self.number, 0
        release(number)


class _Memory:
    """As NumPy sees it: an array that refers to `kept`, which holds it. To NumPy address 0 is none at all."""

    def __init__(self, kept: Any, address: int, type: str, shape: Sequence[int]) -> None:
        self.kept = kept
        self.__array_interface__ = {
            "version": 3, "data": (address or 1, False), "typestr": type, "shape": tuple(shape)}


def _array(said: dict[str, Any]) -> NDArray[Any]:
    return np.asarray(_Memory(_Owner(said["owner"]), said["address"], said["type"], said["shape"]))


def attention(
    method: str,
    tensors: dict[str, NDArray[Any]],
    options: Mapping[str, float],
    scale: float,
    softcap: Optional[float],
    causal: bool,
    window: Sequence[int],
    lengths: Sequence[int],
    documents: Sequence[int],
    query_offsets: Sequence[int],
    mask: Optional[NDArray[Any]],
    gradients: bool,
    custom: Optional[dict[str, Any]] = None,
) -> dict[str, NDArray[Any]]:
    tensors = {name: np.ascontiguousarray(array, np.float64) for name, array in tensors.items()}
    named = _call("attention", method=method, tensors=tensors, options=options, scale=scale, softcap=softcap,
                  causal=causal, window=window, lengths=lengths, documents=documents,
                  query_offsets=query_offsets, mask=mask, gradients=gradients, custom=custom)
    return {name: _array(said) for name, said in named.items()}


def alibi_slopes(heads: int, geometric: bool) -> list[float]:
    slopes: list[float] = _call("alibi_slopes", heads=heads, geometric=geometric)
    return slopes


def declare_custom_bias(declaration: dict[str, Any]) -> dict[str, str]:
    """The shapes of its parameters, in words."""
    return dict(_call("declare_custom_bias", declaration=declaration))


def check(
    call: Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], Any],
    refusal: type[Exception],
    name: str,
    pass_: str,
    bias: str,
    dtype: str,
    offer: dict[str, Any],
    contract: str,
    cases: int,
    seed: int,
    threads: int,
    deterministic: bool,
    case: str,
    shrink: bool,
    time_limit: float,
    progress: Optional[Callable[[int, int], Any]],
    custom: Optional[dict[str, Any]] = None,
) -> tuple[str, str, Optional[Exception]]:
    """The report, what a failure says, and the exception that the failing case ended with.

    The judge has a thread of its own and asks this one, in which the function runs: signals raise exceptions
    in the main thread alone, and from a callback of ctypes none could leave. Checks of several threads wait for
    one another; a function may itself check another.
    """
    questions: queue.SimpleQueue[Optional[dict[str, Any]]] = queue.SimpleQueue()
    answers: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
    ended, last_answer, raised = False, None, None

    def ask(text: bytes, answer: Any) -> None:
        nonlocal last_answer
        if not ended:
            questions.put(json.loads(text))
            last_answer = answers.get()  # referred to as long as the judge may read it
            answer[0] = last_answer

    def answer_to(question: dict[str, Any]) -> dict[str, Any]:
        nonlocal raised
        if "done" in question:
            if progress is not None:
                progress(question["done"], cases)
            return {}
        said = {}
        try:
            _run(call, **question)
        except refusal as error:
            said = {"refused": str(error)}
        except Exception as error:
            raised = error
            said = {"raised": _in_words(error)}
        return {**said, "on_software_device": getattr(call, "on_software_device", False)}

    with _checking, concurrent.futures.ThreadPoolExecutor(1) as judge:
        try:
            verdict = judge.submit(_call, "check", ask=_ASK(ask), name=name, pass_=pass_, bias=bias, dtype=dtype,
                                   offer=offer, contract=contract, cases=cases, seed=seed, threads=threads,
                                   deterministic=deterministic, case=case, shrink=shrink, time_limit=time_limit,
                                   custom=custom)
            verdict.add_done_callback(lambda _: questions.put(None))
            while (question := questions.get()) is not None:
                answers.put(_json(answer_to(question)))
        except BaseException:
            ended = True
            answers.put(None)
            raise
        result = verdict.result()
    return result["report"], result["words"], raised if result["raised"] else None


def _in_words(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return f"{type(error).__name__}, which has no words: its __str__ raises"


def _run(call: Callable[..., Any], problem: dict[str, Any], inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
    """The function gets and gives copies: what outlives the call, such as the frames of an exception, must
    not point into the judge's memory."""

    def copied(arrays: dict[str, Any]) -> dict[str, Any]:
        return {name: (ctypes.string_at(at["address"], at["bytes"]), at["shape"], at.get("strides"))
                for name, at in arrays.items()}

    returned = call(problem, copied(inputs), copied(outputs))
    for arrays, contents in zip((inputs, outputs), returned):
        for name, at in arrays.items():
            if len(contents[name]) != at["bytes"]:
                raise RuntimeError(f"{name} has another size")
            ctypes.memmove(at["address"], contents[name], at["bytes"])


def case_arrays(line: str) -> dict[str, NDArray[Any]]:
    return {name: _array(said) for name, said in _call("case_arrays", line=line).items()}


def methods() -> str:
    return str(_call("methods"))


def families() -> list[str]:
    return list(_call("families"))


def named_contract(name: str, format: str) -> str:
    return str(_call("named_contract", name=name, format=format))


class Device:
    def __init__(self, settings: dict[str, str]) -> None:
        self._owner = _Owner(_call("device", settings=settings))

    def _call(self, function: str, **arguments: Any) -> Any:
        return _call(function, device=self._owner.number, **arguments)

    def vary(self, number: int) -> None:
        self._call("vary", number=number)

    def allocate(self, bytes: int) -> NDArray[Any]:
        return _array(self._call("allocate", bytes=bytes))

    def has(self, address: int, bytes: int) -> bool:
        return bool(self._call("has", address=address, bytes=bytes))

    def load(self, ptx: str) -> int:
        return int(self._call("load", ptx=ptx))

    def unload(self, module: int) -> None:
        if self._owner.number:  # else a cycle of garbage has freed the device first, with its modules
            self._call("unload", module=module)

    def kernel_names(self, module: int) -> list[str]:
        return list(self._call("kernel_names", module=module))

    def info(self, module: int, kernel: str) -> dict[str, Any]:
        return dict(self._call("info", module=module, kernel=kernel))

    def _launch(self, function: str, *given: Any) -> tuple[Any, Any]:
        names = ("module", "kernel", "grid", "block", "shared", "parameters", "ranges", "pointers", "registers")
        first, second = self._call(function, **dict(zip(names, given)))
        return first, second

    def launch(
        self,
        module: int,
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        parameters: bytes,
        ranges: Sequence[tuple[int, int, bool, int]],
        pointers: Sequence[tuple[int, int, int]],
    ) -> tuple[int, int]:
        return self._launch("launch", module, kernel, grid, block, shared, parameters, ranges, pointers)

    def profile(self, *given: Any) -> tuple[str, str]:
        """given: as `launch`, and the registers of a thread, or 0."""
        return self._launch("profile", *given)


def variations() -> list[str]:
    return list(_call("variations"))


def profile_report(record: str, lines: int) -> str:
    return str(_call("profile_report", record=record, lines=lines))


def registers_in(cubin: bytes) -> dict[str, int]:
    return dict(_call("registers_in", cubin=cubin))
