# SPDX-License-Identifier: Apache-2.0
"""Biases that no list has."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _native
from ._arguments import number
from ._bias import Bias
from .formula import Expression, as_text


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a custom bias: what it has a number for, and how its numbers are drawn."""

    per: str
    least: Optional[float] = None
    most: Optional[float] = None
    normal: Optional[float] = None
    whole: Optional[tuple[float, float]] = None

    def __post_init__(self) -> None:
        for field in ("least", "most", "normal"):
            if isinstance(getattr(self, field), np.generic):  # Python's, so that its text needs no NumPy
                object.__setattr__(self, field, getattr(self, field).item())
        uniform = self.least is not None or self.most is not None
        ways = uniform + (self.normal is not None) + (self.whole is not None)
        if self.whole is not None:
            ends = self.whole if isinstance(self.whole, (tuple, list)) else ()
            if len(ends) != 2 or any(number("whole", x) % 1 for x in ends):
                raise ValueError(f"whole is {self.whole!r}; expected (least, most), two whole numbers")
            object.__setattr__(self, "whole", tuple(int(x) for x in ends))
        if ways != 1 or uniform and None in (self.least, self.most):
            raise ValueError(f"{self!r} does not say in one way how its numbers are drawn; expected "
                             "(least, most), normal=standard deviation or whole=(least, most)")

    def __repr__(self) -> str:
        name = {"all": "shared", "prefix_sum": "prefix_sum"}.get(self.per, f"per_{self.per}")
        said = [repr(x) for x in (self.least, self.most) if x is not None]
        said += [f"{key}={x!r}" for key, x in (("normal", self.normal), ("whole", self.whole)) if x is not None]
        return f"plumbline.{name}({', '.join(said)})"

    def declared(self, name: str) -> dict[str, Any]:
        if self.normal is not None:
            drawn: dict[str, Any] = {"normal": number(name, self.normal)}
        elif self.whole is not None:
            least, most = self.whole
            drawn = {"whole": [number(name, least), number(name, most)]}
        else:
            drawn = {"uniform": [number(name, self.least), number(name, self.most)]}
        return {"name": name, "per": self.per, **drawn}


def shared(least: Optional[float] = None, most: Optional[float] = None, *, normal: Optional[float] = None,
           whole: Optional[tuple[float, float]] = None) -> Parameter:
    """A parameter with one number, [1], for all heads.

    Its numbers are drawn uniformly from [least, most); normal: from a normal distribution of that standard
    deviation; whole=(least, most): whole numbers from least to most - 1.

    Raises ValueError unless one of the three is given.
    """
    return Parameter("all", least, most, normal, whole)


def per_head(least: Optional[float] = None, most: Optional[float] = None, *, normal: Optional[float] = None,
             whole: Optional[tuple[float, float]] = None) -> Parameter:
    """A parameter with a number for each head, [heads]; drawn as `shared` says."""
    return Parameter("head", least, most, normal, whole)


def per_query(least: Optional[float] = None, most: Optional[float] = None, *, normal: Optional[float] = None,
              whole: Optional[tuple[float, float]] = None) -> Parameter:
    """A parameter with a number for each query, [batch, heads, queries]; the formula reads p.name[i]."""
    return Parameter("query", least, most, normal, whole)


def per_key(least: Optional[float] = None, most: Optional[float] = None, *, normal: Optional[float] = None,
            whole: Optional[tuple[float, float]] = None) -> Parameter:
    """A parameter with a number for each key, [batch, heads, keys]; the formula reads p.name[i] and p.name[j]."""
    return Parameter("key", least, most, normal, whole)


def per_sequence(least: Optional[float] = None, most: Optional[float] = None, *, normal: Optional[float] = None,
                 whole: Optional[tuple[float, float]] = None) -> Parameter:
    """A parameter with a number for each sequence, [batch]: a prefix's length, for example."""
    return Parameter("sequence", least, most, normal, whole)


def prefix_sum(least: float, most: float) -> Parameter:
    """A parameter [batch, heads, keys], not below 0, of which the formula reads differences of prefix sums.

    p.name is S_i - S_j, S_n the sum of the parameter's numbers 0 to n: below 0 for j > i.
    """
    return Parameter("prefix_sum", least, most)


class _Parameters:
    """What a formula's function gets as p."""

    def __init__(self, declared: dict[str, Parameter]) -> None:
        self.h = Expression("h")
        for name, parameter in declared.items():
            setattr(self, name, Expression(name, indices={"query": "i", "key": "ij"}.get(parameter.per, "")))

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(vars(self))
        raise AttributeError(f"the formula reads p.{name}; expected one of {known}")


def _traced(name: str, given: Any, parameters: dict[str, Parameter]) -> Any:
    """A function's text; what is no function as it is. Raises TypeError for one that does not take i, j and p."""
    if not callable(given):
        return given
    try:
        signature = inspect.signature(given)
        signature.bind(None, None, None)
    except ValueError:  # of a builtin
        pass
    except TypeError:
        raise TypeError(f"{name} takes {signature}; expected a function of i, j and p") from None
    return as_text(given(Expression("i"), Expression("j"), _Parameters(parameters)))


class Custom:
    """A bias of one's own: b_ij by a formula of i, j, the head and parameters.

        decay = plumbline.Custom(lambda i, j, p: -p.r * np.log1p(p.a * abs(i - j)),
                                 r=plumbline.per_head(0.1, 2), a=plumbline.per_head(0.1, 2))
        plumbline.check(my_attention, decay)          # my_attention(q, k, v, *, r, a)
        plumbline.attention(q, k, v, decay(r=r, a=a))

    formula: a function of i, j and p, which has a parameter p.name for each one declared and p.h, the
        head's number from 0; it is called once, and what it does to them is the formula. Or the formula as a
        text, "-r * log1p(a * abs(i - j))" (docs/custom_bias.md).
    visible: which keys a query sees, besides what the check's mask hides: a function of i, j and p that
        makes a condition, (j <= i) | (j < p.prefix), or a text of one. It reads only parameters of
        plumbline.shared and per_sequence, and may compare them. One that the formula does not read has
        no gradient.
    name: of the bias in reports and case lines.
    error_factor: at least 1: by how much more a kernel's bias may be off than one that evaluates the
        formula in float32, operation by operation as it is written.
    parameters: plumbline.shared, per_head, per_query, per_key, per_sequence or prefix_sum.

    What comparisons, floor and the condition of where depend on must be i, j, p.h and constants alone.

    Raises ValueError for a formula or a declaration that is not right, TypeError for other types.
    """

    def __init__(
        self,
        formula: Union[str, Callable[..., Any]],
        *,
        visible: Union[str, Callable[..., Any], None] = None,
        name: str = "custom",
        error_factor: float = 1.0,
        **parameters: Parameter,
    ) -> None:
        for parameter_name, parameter in parameters.items():
            if not isinstance(parameter, Parameter):
                raise TypeError(f"{parameter_name} is {parameter!r}; expected plumbline.shared, per_head, "
                                "per_query, per_key, per_sequence or prefix_sum")
        formula, visible = (_traced(name, given, parameters)
                            for name, given in (("formula", formula), ("visible", visible)))
        if not (visible is None or isinstance(visible, str)):
            raise TypeError(f"visible is {visible!r}; expected a function of i, j and p, a text or None")
        if not isinstance(formula, str):
            raise TypeError(f"formula is {formula!r}; expected a function of i, j and p, or a text")
        if not isinstance(name, str):
            raise TypeError(f"name is {name!r}; expected a text")
        self.formula, self.visible, self.method = formula, visible, name
        self._parameters = parameters
        self.declaration = {
            "name": name,
            "formula": formula,
            "parameters": [parameter.declared(key) for key, parameter in parameters.items()],
            "error_factor": number("error_factor", error_factor),
        }
        if visible is not None:
            self.declaration["visible"] = visible
        self.shapes = _native.declare_custom_bias(self.declaration)

    def __call__(self, **arrays: Any) -> CustomValues:
        """The bias with its numbers, for `attention`. Raises TypeError for others than its parameters."""
        if set(arrays) != set(self._parameters):
            raise TypeError(f"{self.method} got {', '.join(arrays) or 'nothing'}; expected "
                            f"{', '.join(self._parameters) or 'no parameters'}")
        return CustomValues(self, {name: arrays[name] for name in self._parameters})

    def per(self, name: str) -> str:
        """What the parameter has a number for: all, head, query, key, sequence or prefix_sum."""
        return self._parameters[name].per

    @property
    def parameter_names(self) -> list[str]:
        return list(self._parameters)

    def __repr__(self) -> str:
        said = [repr(self.formula)]
        said += [] if self.visible is None else [f"visible={self.visible!r}"]
        said += [] if self.method == "custom" else [f"name={self.method!r}"]
        factor = self.declaration["error_factor"]
        said += [] if factor == 1 else [f"error_factor={factor!r}"]
        said += [f"{name}={parameter!r}" for name, parameter in self._parameters.items()]
        return f"plumbline.Custom({', '.join(said)})"


@dataclasses.dataclass(frozen=True, eq=False)
class CustomValues(Bias):
    """A custom bias with its numbers; `Custom` makes it."""

    custom: Custom
    arrays: dict[str, Any]

    @property
    def method(self) -> str:  # type: ignore[override]
        return self.custom.method

    def parameters(self, heads: int) -> dict[str, Any]:
        return self.arrays

    def options(self) -> dict[str, Any]:
        return {}
