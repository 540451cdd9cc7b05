# SPDX-License-Identifier: Apache-2.0
"""A kernel as a test of pytest's; plumbline.pytest_plugin has the options and the report."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Optional, Sequence, Union

from ._bias import Bias
from ._check import check, method_name
from ._frameworks import format_of
from ._report import Contract


def kernel_test(
    bias: Union[str, type[Bias], None, Sequence[Union[str, type[Bias]]]] = None,
    *,
    dtype: Any = "float32",
    contract: Union[Contract, str, None, dict[Any, Union[Contract, str]]] = None,
    **settings: Any,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Makes a test of pytest's of a function that computes attention: one for each bias and dtype.

        @plumbline.kernel_test([plumbline.Alibi, plumbline.Cable], dtype=["float32", "bfloat16"],
                               contract={"bfloat16": "flash_attention_2"}, backward=True)
        def test_mine(q, k, v, **keywords):
            return my_attention(q, k, v, **keywords)

    bias, dtype: as of plumbline.check(), or a list of them. contract: of all of them, or one for some of
    the dtypes, as they stand in `dtype`. settings: every other argument of plumbline.check() but `case`.

    The tests are named test_mine[alibi-fp32], ... A failing one reports the smallest failing case, the
    diagnosis, and the command that repeats it. Options of pytest: --plumbline-cases N, --plumbline-seed N
    and --plumbline-time-limit SECONDS take the place of `cases`, `seed` and `time_limit` of all these
    tests; --plumbline-case LINE runs this one case, where it fits the test's bias and dtype.

    Raises ImportError without pytest; ValueError or TypeError for wrong arguments, when the test is made
    or, as check() does, when it runs.
    """
    import pytest

    if "case" in settings:
        raise ValueError(f"case is {settings['case']!r}; expected none: --plumbline-case runs one case")
    unknown = [name for name in settings if name not in inspect.signature(check).parameters]
    if unknown:
        raise TypeError(f"kernel_test() got {unknown[0]!r}; expected arguments of plumbline.check()")
    biases = list(bias) if isinstance(bias, (list, tuple)) else [bias]
    dtypes = list(dtype) if isinstance(dtype, (list, tuple)) else [dtype]
    for name, listed in (("bias", biases), ("dtype", dtypes)):
        if not listed:
            raise ValueError(f"{name} is []; expected at least one")
    contracts = contract if isinstance(contract, dict) else {one: contract for one in dtypes}
    stray = [one for one in contracts if one not in dtypes]
    if stray:
        raise ValueError(f"contract is for {stray[0]!r}, which is not in dtype")
    cells = [
        pytest.param(b, d, id=f"{method_name(b)}-{format_of(d)[0]}") for b in biases for d in dtypes
    ]

    def decorate(fn: Callable[..., Any]) -> Callable[..., None]:
        if not callable(fn):
            raise TypeError(f"fn is {fn!r}; expected a function")

        @pytest.mark.parametrize(("plumbline_bias", "plumbline_dtype"), cells)
        def test(plumbline_bias: Any, plumbline_dtype: Any, request: Any) -> None:
            __tracebackhide__ = True  # pytest shows the report instead
            asked = {
                name: value
                for name in ("cases", "seed", "time_limit", "case")
                if (value := request.config.getoption(f"plumbline_{name}", None)) is not None
            }
            report = check(
                fn,
                plumbline_bias,
                dtype=plumbline_dtype,
                contract=contracts.get(plumbline_dtype),
                **{"progress": False, **settings, **asked},
            )
            request.node.user_properties.append(("plumbline", str(report)))

        test.__name__ = getattr(fn, "__name__", type(fn).__name__)
        test.__qualname__ = getattr(fn, "__qualname__", test.__name__)
        test.__module__ = getattr(fn, "__module__", None) or test.__module__
        test.__doc__ = fn.__doc__
        test.kernel = fn  # type: ignore[attr-defined]
        return test

    return decorate
