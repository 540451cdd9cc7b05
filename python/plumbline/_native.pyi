# SPDX-License-Identifier: Apache-2.0
from typing import Any, Callable, Mapping, Optional, Sequence

from numpy.typing import NDArray

def attention(
    method: str,
    tensors: dict[str, NDArray[Any]],
    options: Mapping[str, float],
    scale: float,
    causal: bool,
    window: Optional[int],
    lengths: Sequence[int],
    documents: Sequence[int],
    query_offset: int,
    gradients: bool,
) -> dict[str, NDArray[Any]]: ...
def widened(array: Any) -> NDArray[Any]: ...
def alibi_slopes(heads: int, geometric: bool) -> list[float]: ...
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
) -> tuple[str, str, Optional[Exception]]: ...
def case_arrays(line: str) -> dict[str, tuple[bytes, list[int]]]: ...
def methods() -> str: ...
def named_contract(name: str, format: str) -> str: ...

class Device:
    def __init__(self, settings: dict[str, str]) -> None: ...
    def vary(self, number: int) -> None: ...
    def allocate(self, bytes: int) -> NDArray[Any]: ...
    def has(self, address: int, bytes: int) -> bool: ...
    def load(self, ptx: str) -> int: ...
    def unload(self, module: int) -> None: ...
    def kernel_names(self, module: int) -> list[str]: ...
    def info(self, module: int, kernel: str) -> dict[str, Any]: ...
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
    ) -> tuple[int, int]: ...
    def profile(
        self,
        module: int,
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        parameters: bytes,
        ranges: Sequence[tuple[int, int, bool, int]],
        pointers: Sequence[tuple[int, int, int]],
        registers: int,
    ) -> tuple[str, str]: ...

def variations() -> list[str]: ...
def profile_report(record: str, lines: int) -> str: ...
def registers_in(cubin: bytes) -> dict[str, int]: ...
