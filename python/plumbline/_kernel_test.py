# SPDX-License-Identifier: Apache-2.0
"""Kernels as pytest tests; plumbline.pytest_plugin has the options and the report."""

from __future__ import annotations

import functools
import inspect
import json
import warnings
from typing import Any, Callable, NoReturn, Optional, Sequence, Union

from . import _native
from ._bias import NOT_TOLD, Bias
from ._check import check, method_name, pass_name
from ._custom import Custom
from ._frameworks import format_of
from ._report import Contract
from ._runner import PACKED, SCALES

_OWN = ("plumbline_bias", "plumbline_dtype", "request")
_SETTINGS = ("causal", "window", "lengths", "documents", "mask", "query_offset", "queries_at_end", "scale",
             "softcap", "ssmax_scale", "sinks", "dropout_p", "keep", "dropout_seed", "dropout_offset",
             "rotary_dim", "page_table", "prefix_sums", *PACKED, *SCALES)


def kernel_test(
    bias: Union[str, type[Bias], Custom, None, Sequence[Union[str, type[Bias], Custom]]] = None,
    *,
    dtype: Any = "float32",
    contract: Union[Contract, str, None, dict[Any, Union[Contract, str]]] = None,
    **settings: Any,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Turns a function that computes attention into pytest tests, one for each bias and dtype.

        @plumbline.kernel_test([plumbline.Alibi, plumbline.Cable], dtype=["float32", "bfloat16"],
                               contract={"bfloat16": "pytorch_math_16_bits"}, backward=True)
        def test_mine(q, k, v, **keywords):
            return my_attention(q, k, v, **keywords)

    bias, dtype: as of plumbline.check(), or a list of them. contract: of all of them, or one for some of
    the dtypes. settings: every other argument of plumbline.check() but `fn` and `case`.

    The tests are named test_mine[alibi-fp32], ... An argument of the function without a default that is
    neither q, k, v nor a number of a bias or a setting is a fixture, or comes from
    pytest.mark.parametrize; the function may be a method. A failing test reports the smallest failing
    case, the diagnosis, and the command that repeats it. Options of pytest: --plumbline-cases N,
    --plumbline-seed N and --plumbline-time-limit SECONDS take the place of `cases`, `seed` and
    `time_limit` of all these tests; --plumbline-case LINE runs this one case, and skips the tests of
    another bias, dtype or pass. A test that a time limit ended early passes with a warning.

    Returns the decorator; the tests' attribute `kernel` is the function. Raises ImportError without
    pytest; ValueError or TypeError for wrong arguments, when the test is made or, as check() does, when
    it runs.
    """
    import pytest

    if inspect.isfunction(bias):
        raise TypeError(f"bias is {bias!r}; expected a bias: write @plumbline.kernel_test(...)")
    if "fn" in settings:
        raise ValueError(f"fn is {settings['fn']!r}; expected none: it is what kernel_test() decorates")
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
    formats = [format_of(one)[0] for one in dtypes]
    contracts = dict.fromkeys(formats, contract)
    if isinstance(contract, dict):
        contracts = {format_of(one)[0]: of_one for one, of_one in contract.items()}
        stray = [one for one in contract if format_of(one)[0] not in formats]
        if stray:
            raise ValueError(f"contract is for {stray[0]!r}, which is not in dtype")
    cells = [pytest.param(b, d, id=f"{method_name(b)}-{format_of(d)[0]}") for b in biases for d in dtypes]

    def decorate(fn: Callable[..., Any]) -> Callable[..., None]:
        if isinstance(fn, staticmethod):
            raise TypeError(f"fn is {fn!r}; expected a function: write @staticmethod above @plumbline.kernel_test(...)")
        if not callable(fn):
            raise TypeError(f"fn is {fn!r}; expected a function")

        def test(*instance: Any, plumbline_bias: Any, plumbline_dtype: Any, request: Any,
                 **fixtures: Any) -> None:
            __tracebackhide__ = True  # pytest shows the report instead
            asked = {
                name: value
                for name in ("cases", "seed", "time_limit", "case")
                if (value := request.config.getoption(f"plumbline_{name}", None)) is not None
            }
            format = format_of(plumbline_dtype)[0]
            of_the_test = {"bias": method_name(plumbline_bias), "dtype": format,
                           "pass": pass_name(settings.get("decode"), settings.get("backward"))}
            if other := _differs(asked.get("case"), of_the_test):
                pytest.skip(f"--plumbline-case is of {other}")
            kernel = fn
            if instance or fixtures:
                kernel = functools.partial(fn, *instance, **fixtures)
                kernel.__name__ = test.__name__  # type: ignore[attr-defined]
            wrong = ""
            try:
                report = check(kernel, plumbline_bias, dtype=plumbline_dtype,
                               contract=contracts.get(format), **{"progress": False, **settings, **asked})
            except (TypeError, ValueError, ImportError) as error:  # of the arguments: the kernel's are reported
                wrong = f"{type(error).__name__}: {error}"
            if wrong:
                _fail(wrong)
            request.node.user_properties.append(("plumbline", str(report)))
            if report.cases < report.asked:
                warnings.warn(str(report), stacklevel=1)

        test.__name__ = getattr(fn, "__name__", type(fn).__name__)
        test.__qualname__ = getattr(fn, "__qualname__", test.__name__)
        test.__module__ = getattr(fn, "__module__", None) or test.__module__
        test.__doc__ = fn.__doc__
        test.__signature__ = _signature_for_pytest(fn, biases)  # type: ignore[attr-defined]
        test.kernel = fn  # type: ignore[attr-defined]
        test.pytestmark = list(getattr(fn, "pytestmark", []))  # type: ignore[attr-defined]
        return pytest.mark.parametrize(("plumbline_bias", "plumbline_dtype"), cells)(test)

    return decorate


def _fail(words: str) -> NoReturn:
    """The test fails, and nothing but the words is shown."""
    import pytest

    raise pytest.fail.Exception(words, pytrace=False)  # pytest.fail would be a hidden frame, which pytest tells of


def _signature_for_pytest(fn: Callable[..., Any], biases: Sequence[Any]) -> inspect.Signature:
    """What pytest has to give: self, what the tests are parametrised with, and the function's fixtures."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [inspect.Parameter(name, keyword) for name in _OWN]
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):  # of a builtin
        return inspect.Signature(own)
    instance = parameters[:1] if parameters and parameters[0].name == "self" else []
    known = {*_SETTINGS, *_OWN}
    for method in json.loads(_native.methods()):
        known.update(method["parameters"], {*method["options"]} - {*NOT_TOLD})
    for bias in biases:
        known.update(bias.parameter_names if isinstance(bias, Custom) else [])
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, keyword)
    fixtures = [one.replace(kind=keyword) for one in parameters[len(instance) + 3 :]
                if one.kind in named and one.default is one.empty and one.name not in known]
    return inspect.Signature([*instance, *own, *fixtures])


def _differs(case: Optional[str], of_the_test: dict[str, str]) -> str:
    """What the case has that the test has not: "bias=cable"; empty if nothing."""
    said = dict(pair.partition("=")[::2] for pair in (case or "").split(","))
    return next((f"{name}={said[name]}" for name, own in of_the_test.items()
                 if said.get(name, own) != own), "")
