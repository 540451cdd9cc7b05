#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seed corpus of the fuzzer: small files, right and wrong in one way each.

Usage: write_corpus.py FOLDER. Python's standard library only, no code shared with the parser."""
import json
import math
import os
import struct
import sys

B, H, KV, Q, K, D = 1, 2, 1, 3, 4, 2  # as fuzzed_outputs_spec() in parse_everything.hpp
SHAPES = {
    "q": [B, H, Q, D], "k": [B, KV, K, D], "v": [B, KV, K, D], "slopes": [H],
    "increments": [B, H, K], "gain": [B, H, Q], "theta_alpha": [H], "theta_beta": [H],
    "theta_mu": [H], "ssmax_scale": [H], "lengths": [B], "documents": [B, K],
    "o": [B, H, Q, D], "lse": [B, H, Q], "grad_o": [B, H, Q, D], "grad_lse": [B, H, Q],
    "mask": [1, H, Q, K]}
DTYPES = {"lengths": "I32", "documents": "I32", "mask": "U8"}
CASE = ["q", "k", "v"]
USES = {
    "nope": [], "alibi": ["slopes"], "cable": ["increments", "gain"], "cable_nw": ["increments"],
    "k_cable": ["increments", "gain"], "k_cable_nw": ["increments"],
    "ggd": ["theta_alpha", "theta_beta", "theta_mu"]}


def tensor(name, dtype, shape):
    count = math.prod(shape)
    if dtype in ("U8", "BOOL"):
        return bytes(i % 3 != 0 for i in range(count))
    if dtype == "I32":
        return struct.pack("<%di" % count, *([1] * count))
    values = [((7 * i + len(name)) % 16) / 8.0 for i in range(count)]  # exact in bf16
    wide = struct.pack("<%df" % count, *values)
    if dtype == "BF16":
        return b"".join(wide[4 * i + 2:4 * i + 4] for i in range(count))
    return wide


def container(tensors, metadata):
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape in tensors:
        raw = tensor(name, dtype, shape)
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def case(bias, stored="F32", extra=(), shapes=None, dtypes=None, **fields):
    shapes, dtypes = SHAPES | (shapes or {}), DTYPES | {"grad_o": stored} | (dtypes or {})
    spec = {"format_version": 1, "bias": bias, "causal": True, **fields}
    tensors = [(n, stored, shapes[n]) for n in CASE]
    tensors += [(n, dtypes.get(n, "F32"), shapes[n]) for n in (*USES[bias], *extra)]
    return container(tensors, {"plumbline": json.dumps(spec)})


def outputs(dtype, **fields):
    spec = {"format_version": 1, **fields}
    return container([("o", dtype, SHAPES["o"]), ("lse", "F32", SHAPES["lse"])],
                     {"plumbline": json.dumps(spec)})


def main(folder):
    os.makedirs(folder, exist_ok=True)
    good = case("alibi", "BF16")
    files = {f"case-{bias}-{dtype.lower()}": case(bias, dtype)
             for bias in USES for dtype in ("F32", "BF16")}
    files |= {
        "case-everything": case("ggd", "BF16", ("ssmax_scale", "lengths", "documents"),
                                dtype="bf16", window=2, scale=0.5, epsilon=1e-5, query_offset=1,
                                origin="bias=ggd"),
        "case-mask-bool": case("nope", extra=("mask",), shapes={"mask": [1, 1, Q, K]},
                               dtypes={"mask": "BOOL"}),
        "case-mask-u8": case("alibi", "BF16", ("mask", "lengths")),
        "case-grad-lse": case("nope", extra=("grad_o", "grad_lse")),
        "case-wide-values": case("nope", "BF16", ("grad_o", "grad_lse", "mask"), shapes={
            "v": [B, KV, K, D + 3], "grad_o": [B, H, Q, D + 3]}),
        "case-narrow-values": case("nope", shapes={"v": [B, KV, K, 1]}),
        "mask-i32": case("nope", extra=("mask",), dtypes={"mask": "I32"}),
        "mask-of-other-rows": case("nope", extra=("mask",), shapes={"mask": [1, H, Q + 1, K]}),
        "mask-of-two": case("nope", extra=("mask",))[:-1] + b"\2",
        "grad-lse-alone": case("nope", extra=("grad_lse",)),
        "grad-o-of-other-width": case("nope", extra=("grad_o",),
                                      shapes={"v": [B, KV, K, D + 1]}),
        "outputs-f32": outputs("F32"),
        "outputs-bf16": outputs("BF16", kernel="flash", contract={
            "unit_roundoff": 2**-24, "probability_format": "bf16", "sums_rounded_p": False,
            "exp_error": 2**-20, "splits": 1, "prefix_sum": "fp32", "prefix_tile": 64}),
        "outputs-undeclared": container(
            [("o", "F32", SHAPES["o"]), ("lse", "F32", SHAPES["lse"])], None),
        "empty": b"",
        "only-length": struct.pack("<Q", 2),
        "no-tensors": struct.pack("<Q", 2) + b"{}",
        "lying-length": struct.pack("<Q", 2**63) + good[8:],
        "truncated-header": good[:60],
        "truncated-data": good[:-3],
        "deep": struct.pack("<Q", 200) + b"[" * 100 + b"]" * 100,
        "duplicate": struct.pack("<Q", 13) + b'{"a":1,"a":2}',
        "overflow": container([("q", "F32", [0, 2**40, 2**40, 2**40])], {}),
    }
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main(sys.argv[1])
