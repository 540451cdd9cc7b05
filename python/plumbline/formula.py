# SPDX-License-Identifier: Apache-2.0
"""Formulas of biases that no list has, as Python functions write them: see plumbline.Custom.

The functions here are those of the formulas: `from plumbline.formula import log1p, where`. NumPy's and
PyTorch's of the same name (numpy.log1p, torch.tanh, numpy.where, ...) do as well.
"""

from __future__ import annotations

import numbers
import operator
from typing import Any, Callable

__all__ = ["cos", "erf", "exp", "floor", "log", "log1p", "maximum", "minimum", "sin", "sqrt", "tanh", "where"]

# How tightly an operation binds: an operand that binds less gets parentheses.
_COMPARISON, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(6)


class Expression:
    """A number of a formula that is being written. The operators of Python, [i] and [j] make others of it.

    &, | and ~ are of conditions, which are 1 or 0: a product, the larger of two, and 1 less it.
    """

    def __init__(self, text: str, binding: int = _ATOM, indices: str = "") -> None:
        self._text, self._binding, self._indices = text, binding, indices

    def _within(self, binding: int) -> str:
        if self._indices:
            raise TypeError(f"{self._text} has a number for each position; expected "
                            + " or ".join(f"{self._text}[{index}]" for index in self._indices))
        return self._text if self._binding >= binding else f"({self._text})"

    def __getitem__(self, index: Any) -> Expression:
        name = index._text if isinstance(index, Expression) else repr(index)
        if name not in tuple(self._indices):
            expected = " or ".join(self._indices) or "no index: it has no number for each position"
            raise TypeError(f"{self._text}[{name}] has index {name}; expected {expected}")
        return Expression(f"{self._text}[{name}]")

    def __iter__(self) -> Any:
        raise TypeError(f"{self._text} is one number of a formula; expected no loop over it")

    def __add__(self, other: Any) -> Expression: return _infix(self, "+", other, _SUM, _PRODUCT)
    def __radd__(self, other: Any) -> Expression: return _infix(other, "+", self, _SUM, _PRODUCT)
    def __sub__(self, other: Any) -> Expression: return _infix(self, "-", other, _SUM, _PRODUCT)
    def __rsub__(self, other: Any) -> Expression: return _infix(other, "-", self, _SUM, _PRODUCT)
    def __mul__(self, other: Any) -> Expression: return _infix(self, "*", other, _PRODUCT, _SIGN)
    def __rmul__(self, other: Any) -> Expression: return _infix(other, "*", self, _PRODUCT, _SIGN)
    def __truediv__(self, other: Any) -> Expression: return _infix(self, "/", other, _PRODUCT, _SIGN)
    def __rtruediv__(self, other: Any) -> Expression: return _infix(other, "/", self, _PRODUCT, _SIGN)
    def __floordiv__(self, other: Any) -> Expression: return _infix(self, "//", other, _PRODUCT, _SIGN)
    def __rfloordiv__(self, other: Any) -> Expression: return _infix(other, "//", self, _PRODUCT, _SIGN)
    def __pow__(self, other: Any) -> Expression: return _infix(self, "**", other, _POWER, _SIGN, _ATOM)
    def __rpow__(self, other: Any) -> Expression: return _infix(other, "**", self, _POWER, _SIGN, _ATOM)
    def __and__(self, other: Any) -> Expression: return _infix(self, "*", other, _PRODUCT, _SIGN)
    def __rand__(self, other: Any) -> Expression: return _infix(other, "*", self, _PRODUCT, _SIGN)
    def __or__(self, other: Any) -> Expression: return _call("max", self, other)
    def __ror__(self, other: Any) -> Expression: return _call("max", other, self)
    def __invert__(self) -> Expression: return _infix(1, "-", self, _SUM, _PRODUCT)
    def __neg__(self) -> Expression: return Expression("-" + self._within(_SIGN), _SIGN)
    def __pos__(self) -> Expression: return self
    def __abs__(self) -> Expression: return _call("abs", self)
    def __lt__(self, other: Any) -> Expression: return _infix(self, "<", other, _COMPARISON, _SUM, _SUM)
    def __le__(self, other: Any) -> Expression: return _infix(self, "<=", other, _COMPARISON, _SUM, _SUM)
    def __gt__(self, other: Any) -> Expression: return _infix(self, ">", other, _COMPARISON, _SUM, _SUM)
    def __ge__(self, other: Any) -> Expression: return _infix(self, ">=", other, _COMPARISON, _SUM, _SUM)
    def __eq__(self, other: Any) -> Expression:  # type: ignore[override]
        return _infix(self, "==", other, _COMPARISON, _SUM, _SUM)
    def __ne__(self, other: Any) -> Expression:  # type: ignore[override]
        return _infix(self, "!=", other, _COMPARISON, _SUM, _SUM)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError(f"whether {self._text} holds is not known as the formula is written; expected "
                        "plumbline.formula.where(condition, if_so, else_), maximum or minimum, and & | ~ for and, or, "
                        "not")

    def __float__(self) -> float:
        raise TypeError(f"{self._text} is no number as the formula is written; expected functions of "
                        f"plumbline.formula ({', '.join(__all__)}), numpy or torch instead of math's")

    def __repr__(self) -> str:
        return self._text

    __array_priority__ = 1000

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        return _of_framework(ufunc.__name__, method == "__call__" and not settings, inputs)

    def __array_function__(self, function: Any, types: Any, inputs: Any, settings: Any) -> Any:
        return _of_framework(function.__name__, not settings, inputs)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, inputs: Any = (), settings: Any = None) -> Any:
        return _of_framework(function.__name__, not settings, inputs)


def _as_expression(given: Any) -> Expression:
    if isinstance(given, Expression):
        return given
    if isinstance(given, numbers.Real) or getattr(given, "shape", None) == ():
        try:
            value = float(given)
        except OverflowError:
            value = float("inf")
        if value - value != 0:
            raise ValueError(f"the formula has {value}; expected finite numbers")
        text = repr(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)
        return Expression(text, _SIGN if value < 0 else _ATOM)
    raise TypeError(f"the formula has {given!r}; expected numbers, i, j and the parameters")


def as_text(written: Any) -> str:
    """What a formula's function returned, as the text that plumbline.Custom takes."""
    return _as_expression(written)._within(_COMPARISON)


def _infix(left: Any, symbol: str, right: Any, binding: int, right_binding: int, left_binding: int = -1) -> Expression:
    left_text = _as_expression(left)._within(binding if left_binding < 0 else left_binding)
    space = "" if symbol == "**" else " "
    return Expression(f"{left_text}{space}{symbol}{space}{_as_expression(right)._within(right_binding)}", binding)


def _call(name: str, *given: Any) -> Expression:
    return Expression(f"{name}({', '.join(_as_expression(x)._within(_COMPARISON) for x in given)})")


_OPERATORS = {
    "abs": abs, "absolute": abs, "add": operator.add, "div": operator.truediv, "divide": operator.truediv,
    "eq": operator.eq, "equal": operator.eq, "floor_divide": operator.floordiv, "ge": operator.ge,
    "greater": operator.gt, "greater_equal": operator.ge, "gt": operator.gt, "le": operator.le,
    "less": operator.lt, "less_equal": operator.le, "logical_and": operator.and_,
    "logical_not": operator.invert, "logical_or": operator.or_, "lt": operator.lt, "mul": operator.mul,
    "multiply": operator.mul, "ne": operator.ne, "neg": operator.neg, "negative": operator.neg,
    "not_equal": operator.ne, "positive": operator.pos, "pow": operator.pow, "power": operator.pow,
    "square": lambda x: x**2, "sub": operator.sub, "subtract": operator.sub, "true_divide": operator.truediv,
}
"""By NumPy's and PyTorch's names."""


def _of_framework(name: str, is_plain: bool, inputs: Any) -> Any:
    function = _OPERATORS.get(name) or (globals()[name] if name in __all__ else None)
    if not is_plain or function is None:
        raise TypeError(f"the formula calls {name}; expected operators, abs and the functions of "
                        f"plumbline.formula: {', '.join(__all__)}")
    return function(*map(_as_expression, inputs))  # type: ignore[operator]


def _function(name: str, text: str, doc: str) -> Callable[..., Expression]:
    def call(*given: Any) -> Expression:
        return _call(text, *given)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


exp = _function("exp", "exp", "e^x.")
log = _function("log", "log", "The natural logarithm, x > 0.")
log1p = _function("log1p", "log1p", "ln(1 + x), x > -1.")
sqrt = _function("sqrt", "sqrt", "The square root, x >= 0; x > 0 where a gradient is asked for.")
sin = _function("sin", "sin", "The sine, in radians.")
cos = _function("cos", "cos", "The cosine, in radians.")
tanh = _function("tanh", "tanh", "The hyperbolic tangent.")
erf = _function("erf", "erf", "2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.")
floor = _function("floor", "floor", "The largest whole number that is not above x, of i, j, h and constants alone.")
minimum = _function("minimum", "min", "The smaller of two.")
maximum = _function("maximum", "max", "The larger of two.")
where = _function("where", "where", "where(condition, x, y): x where the condition, of i, j, h and constants "
                  "alone, holds, else y, which is then not evaluated.")
