# SPDX-License-Identifier: Apache-2.0
"""The formula of a custom bias, evaluated on PyTorch's tensors."""

from __future__ import annotations

import ast
import operator
from typing import Any, Callable

from ._custom import CustomValues

_INFIX: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: lambda x, y: (x / y).floor(), ast.Pow: operator.pow,
}
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def custom_in_torch(bias: CustomValues) -> Callable[..., Any]:
    """b_ij as a function of tensors of whole numbers: (b, h, r, i, j), r being the query's row and i its position.

    Numbers and operations are float32; prefix sums are taken in double, and their differences rounded to the
    parameter's dtype. A formula's text is one of Python, whose comparisons are 1 or 0.

    Raises ValueError for arrays of another rank.
    """
    import torch

    arrays = {}
    for name, x in bias.arrays.items():
        per = bias.custom.per(name)
        rank = {"all": 1, "head": 1, "sequence": 1}.get(per, 3)
        arrays[name] = per, torch.as_tensor(x)
        if arrays[name][1].ndim != rank:
            raise ValueError(f"{name} is of shape {tuple(arrays[name][1].shape)}; expected {rank} "
                             f"{'axis' if rank == 1 else 'axes'}")
    sums = {name: x.double().cumsum(-1) for name, (per, x) in arrays.items() if per == "prefix_sum"}
    formula = ast.parse(bias.custom.formula, mode="eval").body
    calls = {
        "abs": torch.abs, "exp": torch.exp, "log": torch.log, "log1p": torch.log1p, "sqrt": torch.sqrt, "sin": torch.sin,
        "cos": torch.cos, "tanh": torch.tanh, "erf": torch.erf, "floor": torch.floor, "min": torch.minimum,
        "max": torch.maximum, "where": lambda condition, x, y: torch.where(condition != 0, x, y),
    }

    def at(b: Any, h: Any, r: Any, i: Any, j: Any) -> Any:
        zero = (0 * (i + j)).float()  # makes tensors of numbers

        def read(name: str, index: Any) -> Any:
            per, x = arrays[name]
            if per == "prefix_sum":
                return (sums[name][b, h, i] - sums[name][b, h, j]).to(x.dtype)
            if per in ("query", "key"):
                return x[b, h, r if per == "query" else index]
            return x[b] if per == "sequence" else x[h] if per == "head" else x[0 * h]

        def of(node: Any) -> Any:
            if isinstance(node, ast.Constant):
                return zero + node.value
            if isinstance(node, ast.Name):
                indices = {"i": i, "j": j, "h": h}
                return zero + (indices[node.id] if node.id in indices else read(node.id, None))
            if isinstance(node, ast.Subscript):
                return zero + read(node.value.id, {"i": i, "j": j}[node.slice.id])  # type: ignore[attr-defined]
            if isinstance(node, ast.UnaryOp):
                return -of(node.operand) if isinstance(node.op, ast.USub) else of(node.operand)
            if isinstance(node, ast.BinOp):
                if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
                    return of(node.left) ** node.right.value  # has a gradient at 0, too
                return _INFIX[type(node.op)](of(node.left), of(node.right))
            if isinstance(node, ast.Compare):
                return _COMPARISONS[type(node.ops[0])](of(node.left), of(node.comparators[0])).float()
            return calls[node.func.id](*map(of, node.args))

        return of(formula)

    return at
