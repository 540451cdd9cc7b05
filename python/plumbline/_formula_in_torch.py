# SPDX-License-Identifier: Apache-2.0
"""The formula of a custom bias, evaluated on PyTorch's tensors."""

from __future__ import annotations

import ast
import math
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
    parameter's dtype. A formula's text is one of Python, whose comparisons are 1 or 0. Of where, the branch that a pair
    does not take is evaluated at another pair, which takes it: 0 times the derivative there is 0.

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
    pairs = _Pairs(formula)
    calls = {
        "abs": torch.abs, "exp": torch.exp, "log": torch.log, "log1p": torch.log1p, "sqrt": torch.sqrt,
        "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh, "erf": torch.erf, "floor": torch.floor,
        "min": torch.minimum, "max": torch.maximum,
    }

    def at(b: Any, h: Any, r: Any, i: Any, j: Any) -> Any:
        zero = (0 * (i + j)).float()  # makes tensors of numbers

        def read(name: str, index: Any, i: Any, j: Any) -> Any:
            per, x = arrays[name]
            if per == "prefix_sum":
                return (sums[name][b, h, i] - sums[name][b, h, j]).to(x.dtype)
            if per in ("query", "key"):
                return x[b, h, r if per == "query" else index]
            return x[b] if per == "sequence" else x[h] if per == "head" else x[0 * h]

        def of(node: Any, i: Any, j: Any) -> Any:
            indices = {"i": i, "j": j, "h": h}
            if isinstance(node, ast.Constant):
                return zero + node.value
            if isinstance(node, ast.Name):
                return zero + (indices[node.id] if node.id in indices else read(node.id, None, i, j))
            if isinstance(node, ast.Subscript):
                name, index = node.value.id, node.slice.id  # type: ignore[attr-defined]
                return zero + read(name, indices[index], i, j)
            if isinstance(node, ast.UnaryOp):
                return -of(node.operand, i, j) if isinstance(node.op, ast.USub) else of(node.operand, i, j)
            if isinstance(node, ast.BinOp):
                if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
                    return of(node.left, i, j) ** node.right.value  # has a gradient at 0, too
                return _INFIX[type(node.op)](of(node.left, i, j), of(node.right, i, j))
            if isinstance(node, ast.Compare):
                return _COMPARISONS[type(node.ops[0])](of(node.left, i, j), of(node.comparators[0], i, j)).float()
            if node.func.id != "where":
                return calls[node.func.id](*(of(operand, i, j) for operand in node.args))
            holds = of(node.args[0], i, j) != 0
            branches = []
            for taken, branch in ((holds, node.args[1]), (~holds, node.args[2])):
                i_of, j_of = pairs.taking(node, branch)
                branches.append(of(branch, torch.where(taken, i, i_of), torch.where(taken, j, j_of)))
            return torch.where(holds, *branches)

        return of(formula, i, j)

    return at


class _Pairs:
    """For each branch of a formula's where a pair (i, j) that takes it, in a small square; (0, 0) if none does."""

    _FUNCTIONS = {name: getattr(math, name) for name in
                  ("cos", "erf", "exp", "floor", "log", "log1p", "sin", "sqrt", "tanh")}

    def __init__(self, formula: ast.expr) -> None:
        self._of: dict[tuple[ast.AST, ast.AST], tuple[int, int]] = {}
        names = {**self._FUNCTIONS, "__builtins__": {}, "abs": abs, "min": min, "max": max, "h": 0,
                 "where": lambda condition, x, y: x if condition else y}
        for node in ast.walk(formula):
            if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "where"):
                continue
            condition = compile(ast.Expression(node.args[0]), "where", "eval")
            # The formula has been read by the judge's own reader: it has numbers, i, j, h and functions, and no more.
            pairs = [(i, j, bool(eval(condition, {**names, "i": i, "j": j}))) for i in range(64) for j in range(i + 1)]
            for taken, branch in zip((True, False), node.args[1:]):
                self._of[node, branch] = next(((i, j) for i, j, holds in pairs if holds == taken), (0, 0))

    def taking(self, node: ast.AST, branch: ast.AST) -> tuple[int, int]:
        return self._of[node, branch]
