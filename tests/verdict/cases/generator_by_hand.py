#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The generator of cases written a second time, from its description, in another language.

Prints one line per case and tensor: the case, the tensor, and the FNV-1a hash of its bytes. The
frozen output is golden_hashes.txt beside this file; the C++ generator must give the same bits.
Python's floats are IEEE doubles, struct.pack("<f") rounds them to nearest even, and nothing here
comes from libm but sqrt, which is correctly rounded."""
import math
import struct

MASK = (1 << 64) - 1
STREAMS = {name: i + 1 for i, name in enumerate(
    ["q", "k", "v", "increments", "gain", "theta_alpha", "theta_beta", "theta_mu", "ssmax_scale",
     "lengths", "documents", "grad_o", "options", "p", "a", "table", "hidden_weight", "hidden_bias",
     "output_weight", "output_bias", "c", "L", "log_forget", "position_embedding", "q_scale",
     "k_scale", "v_scale", "slopes", "boundaries", "sample", "mask", "grad_lse", "dropout",
     "query_lengths", "shared_keys"])}
EVERY_INDEX = MASK  # the word that a whole tensor's kind is drawn from
OPTIONS = ["epsilon", "buckets", "max_distance", "largest", "hidden", "L0", "base", "positions",
           "per_batch", "per_head", "per_query", "in_format_of_o", "slopes_per_batch"]
STREAMS["tensor"] = 64 + 19  # 64 and its number in plumbline_parameter


def mix(z):
    z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & MASK
    return z ^ (z >> 31)


class Draw:
    def __init__(self, seed, stream):
        self.start = mix(seed ^ mix(STREAMS[stream]))

    def word(self, i):
        return mix((self.start + (i + 1) * 0x9e3779b97f4a7c15) & MASK)

    def uniform(self, i):
        return (self.word(i) >> 11) / 2.0**53

    def below(self, i, count):
        return (self.word(i) >> 32) * count >> 32

    def normal(self, i):
        words = [self.word(6 * i + k) for k in range(6)]
        return (sum((w >> 32) + (w & 0xffffffff) for w in words) - 6 * 0xffffffff) / 2.0**32


def fp32(x):
    return struct.pack("<f", x)


def bf16(x):
    """Nearest bf16, ties to even, of the nearest fp32; as the four bytes of an fp32."""
    bits, = struct.unpack("<I", fp32(x))
    low, high = bits & 0xffff, bits >> 16
    if low > 0x8000 or (low == 0x8000 and high % 2 == 1):
        high += 1
    return struct.pack("<I", high << 16)


def fp16(x):
    """Nearest fp16 of the nearest fp32; as the four bytes of an fp32."""
    single, = struct.unpack("<f", fp32(x))
    return fp32(struct.unpack("<e", struct.pack("<e", single))[0])


def small(bits, least, largest):
    """Rounds to a format of 8 bits: `bits` of fraction, smallest normal number 2^least. Python's
    round() takes ties to even."""
    def rounded(x):
        single, = struct.unpack("<f", fp32(x))
        exponent = max(math.frexp(single)[1] - 1, least) if single else least
        value = round(single / 2.0**(exponent - bits)) * 2.0**(exponent - bits)
        assert abs(value) <= largest
        return math.copysign(value, single)
    return rounded


E4M3, E5M2, INT8 = small(3, -6, 448.0), small(2, -14, 57344.0), round


def cache_scales(spec):
    """Of k and v of a cache of 8 bits: lists by batch and key head, or by batch, key head and key."""
    keys = spec["keys"] if spec["scale_per_key"] else 1
    huge = (2.0**10, 2.0**8) if spec["dtype"] == "fp16" else (2.0**12,) * 2
    factors = huge if spec["family"] == "huge" else (1, 1)
    out = {}
    for name, factor, most in zip("kv", factors, (1, 3)):
        d = Draw(spec["seed"], name + "_scale")
        places = [n // keys * keys if name == "k" and spec["family"] == "tied" else n
                  for n in range(spec["batch"] * spec["kv_heads"] * keys)]
        if spec["scale_per_key"]:
            places = [drawn_as(spec, n) for n in places]
        elif shared_keys(spec):
            places = [n % spec["kv_heads"] for n in places]
        out[name] = [(1 + d.below(2 * n, 2048) / 2048) * factor / 16
                     * 2.0**(d.below(2 * n + 1, 2 * most + 1) - most) for n in places]
    return out


def shared_keys(spec):
    """The first keys that all sequences have in common."""
    pages = spec["keys"] // spec["page_size"] if spec["page_size"] else 0
    d = Draw(spec["seed"], "shared_keys")
    if not pages or spec["batch"] == 1 or spec["dtype"] in ("e4m3", "e5m2") or not d.below(0, 2):
        return 0
    return spec["page_size"] * (1 + d.below(1, pages))


def drawn_as(spec, row):
    """The row of k or v whose numbers this one has."""
    _, of_first = divmod(row, spec["kv_heads"] * spec["keys"])
    return of_first if row % spec["keys"] < shared_keys(spec) else row


def scales(spec):
    """Of q, k and v: lists by batch and key head."""
    family, out = spec["family"], {"q": [], "k": [], "v": []}
    backward = spec["pass"] == "backward"
    factors = {"peaked": (4 if backward else 16, 1, 1), "diffuse": (1 / 64, 1, 1),
               "huge": huge(spec)}.get(family, (1, 1, 1))
    for head in range(spec["batch"] * spec["kv_heads"]):
        draws = [Draw(spec["seed"], name + "_scale") for name in "qkv"]
        steps = [(2048 + d.below(2 * head, 2048)) / 2048 for d in draws]
        power = [d.below(2 * head + 1, n) - n // 2 for d, n in zip(draws, (7, 3, 7))]
        power[1] -= power[0] + 1
        power[2] -= 3 if spec["pass"] == "backward" else 0
        for name, s, p, factor in zip("qkv", steps, power, factors):
            out[name].append(s * 2.0**p * factor / stored_factor(spec))
    return out


def stored_factor(spec):
    if spec["family"] == "subnormal":
        return 1.0
    if spec["family"] == "huge":
        return 2.0**6 if spec["dtype"] == "e4m3" else 2.0**13
    return 16.0


def huge(spec):
    rate = single(float(spec["dropout"]))
    q, k, v = huge_without_dropout(spec)
    return q, k, v * (2.0**(math.frexp(1 - rate)[1] - 1) if rate else 1.0)


def huge_without_dropout(spec):
    short = spec["dtype"] in ("fp16", "e4m3", "e5m2") or spec["cache"] != "in_format"
    if spec["pass"] == "backward" and spec["bias"] == "cope":
        return (1 / 16, 16.0, 4.0) if short else (2.0**-40, 2.0**40, 2.0**30)
    if spec["pass"] == "backward":
        return (16.0, 1 / 16, 4.0) if short else (2.0**40, 2.0**-40, 2.0**30)
    if short:
        return (2.0**12,) * 3
    exponent = (120 - math.ceil(math.log2(spec["head_dim"]))) // 2 - 3
    exponent -= 4 if spec["bias"].startswith("dape") else 0
    return (2.0**exponent, 2.0**exponent, 2.0**100)


def qkv(spec):
    family = spec["family"]
    width = {"q": spec["head_dim"], "k": spec["head_dim"], "v": spec["value_dim"]}
    store = {"bf16": bf16, "fp16": fp16}.get(spec["dtype"], fp32)
    eight = {"e4m3": E4M3, "e5m2": E5M2}.get(spec["dtype"])
    by_head = scales(spec) if eight else None
    cached = {"e4m3": E4M3, "e5m2": E5M2, "int8": INT8}.get(spec["cache"])
    if cached:
        by_head = cache_scales(spec)
    rotated = spec["pass"] == "backward" and "rope_" in spec["bias"]
    scale = {"peaked": (4 if rotated else 16, 1, 1), "diffuse": (1 / 64, 1, 1), "huge": huge(spec)}.get(
        family, (1, 1, 1))
    rows = {"q": spec["heads"] * spec["queries"], "k": spec["kv_heads"] * spec["keys"],
            "v": spec["kv_heads"] * spec["keys"]}
    if eight:
        scale = (stored_factor(spec),) * 3
    if cached:
        scale = (scale[0], 16.0, 16.0)
    for factor, name in zip(scale, "qkv"):
        if name == "v" and spec["values_in_keys"]:
            yield name, b"".join(row[:4 * width["v"]] for row in cut(out, 4 * width["k"]))
            continue
        draw, out, dim = Draw(spec["seed"], name), b"", width[name]
        count = spec["batch"] * rows[name] * dim
        for i in range(count):
            element = i
            if name == "k" and family == "tied":
                i = i // (spec["keys"] * dim) * (spec["keys"] * dim) + i % dim
            if name != "q":
                i = drawn_as(spec, i // dim) * dim + i % dim
            if family == "subnormal":
                bits = {E4M3: 3, E5M2: 2}[eight] if eight else {bf16: 7, fp16: 10, fp32: 23}[store]
                m = 1 + draw.below(2 * i, 2**bits - 1)
                least = {E4M3: -9, E5M2: -16}[eight] if eight else (
                    -24 if store is fp16 else -126 - bits)
                x = (-m if draw.word(2 * i + 1) % 2 else m) * 2.0**least
            elif family == "level" and (name != "k" or spec["values_in_keys"]):
                x = 0.0 if name == "q" else draw.below(i, 17) - 8.0
            else:
                x = draw.normal(i) * factor
            small_format = cached if name != "q" else eight
            if eight or small_format:
                x = (eight or small_format)(x) * by_head[name][element * len(by_head[name]) // count]
            out += fp32(x) if cached and name != "q" else store(x)
        yield name, out
    if cached:
        for name in "kv":
            of = "k" if spec["values_in_keys"] else name
            yield name + "_scale", b"".join(map(fp32, by_head[of]))
    if eight:
        by_head["v"] = by_head["k" if spec["values_in_keys"] else "v"]
        for name in "qkv":
            yield name + "_scale", b"".join(map(fp32, by_head[name]))
        store = bf16
    if spec["pass"] == "backward":
        draw = Draw(spec["seed"], "grad_o")
        yield "grad_o", b"".join(store(draw.normal(i))
                                 for i in range(spec["batch"] * rows["q"] * width["v"]))
    if spec["lse_gradient"]:
        draw = Draw(spec["seed"], "grad_lse")
        yield "grad_lse", b"".join(fp32(draw.normal(i)) for i in range(spec["batch"] * rows["q"]))


def cut(data, size):
    """Into pieces of this size."""
    return [data[at:at + size] for at in range(0, len(data), size)]


def slopes(heads):
    power = 2**int(math.floor(math.log2(heads)))

    def geometric(n):
        ratio = 1 / 256
        while n > 1:
            ratio, n = math.sqrt(ratio), n // 2
        return ratio

    def first(n, count):
        out, x = [], 1.0
        for _ in range(count):
            x *= geometric(n)
            out.append(x)
        return out

    return first(power, power) + first(2 * power, 2 * power)[0::2][:heads - power]


def newer_parameters(spec):
    seed, heads, bias = spec["seed"], spec["heads"], spec["bias"].split("+")[0]
    chosen = lambda option, values: values[Draw(seed, "options").below(OPTIONS.index(option), 4)]
    normal = lambda name, count, factor: [Draw(seed, name).normal(i) * factor for i in range(count)]
    uniform = lambda name, count, least, most: [Draw(seed, name).uniform(i) * (most - least) + least
                                                for i in range(count)]
    if bias == "cope":
        positions = chosen("positions", (64, 16, 5, 1))
        return {"position_embedding": normal("position_embedding",
                                             heads * positions * spec["head_dim"], 1 / 8)}
    if bias.startswith("dape"):
        hidden, taps = chosen("hidden", (32, 8, 4, 1)), 1 if "_v1_" in bias else 3
        values = newer_parameters(dict(spec, bias=bias[len("dape_v1_"):]))
        values.update({"hidden_weight": normal("hidden_weight", hidden * 2 * heads * taps, 1 / 8),
                       "hidden_bias": normal("hidden_bias", hidden, 0.5),
                       "output_weight": normal("output_weight", heads * hidden * taps, 1 / 8),
                       "output_bias": normal("output_bias", heads, 1.0)})
        return values
    if bias.startswith("kerple"):
        return {name: uniform(name, heads, 1 / 16, 2.0) for name in "pa"}
    if bias == "fox":
        z = normal("log_forget", spec["batch"] * heads * spec["keys"], 1.0)
        return {"log_forget": [(x - math.sqrt(x * x + 4)) / 4 for x in z]}
    if bias.startswith("t5"):
        largest = chosen("largest", (0, 2, 16, 256))
        rows = {"t5_clipped": largest + 1, "t5_clipped_offset": 2 * largest + 1}.get(
            bias, chosen("buckets", (32, 16, 8, 20)))
        return {"table": normal("table", heads * rows, 1.0)}
    if bias == "bias_tensor":
        size = spec["keys"]
        size *= spec["batch"] if chosen("per_batch", (1, 0, 1, 0)) else 1
        size *= heads if chosen("per_head", (1, 0, 1, 0)) else 1
        size *= spec["queries"] if chosen("per_query", (1, 1, 1, 0)) else 1
        numbers = normal("tensor", size, 1.0)
        if chosen("in_format_of_o", (1, 0, 1, 0)):
            store = {"fp16": fp16, "fp32": fp32, "tf32": fp32}.get(spec["dtype"], bf16)
            numbers = [struct.unpack("<f", store(z))[0] for z in numbers]
        return {"tensor": numbers}
    if bias == "fire":
        hidden = chosen("hidden", (32, 8, 8, 5))
        return {"hidden_weight": normal("hidden_weight", hidden, 1.0),
                "hidden_bias": normal("hidden_bias", hidden, 0.5),
                "output_weight": normal("output_weight", heads * hidden, 0.5),
                "output_bias": normal("output_bias", heads, 1.0),
                "c": uniform("c", 1, 1 / 16, 0.5), "L": uniform("L", 1, 0.5, 1.5)}
    return {}


def parameters(spec):
    seed, heads, bias = spec["seed"], spec["heads"], spec["bias"].split("+")[0]
    per_key = spec["batch"] * heads * spec["keys"]
    per_query = spec["batch"] * heads * spec["queries"]
    values = {}
    if bias.endswith("alibi"):
        d = Draw(seed, "slopes")
        own = bias == "alibi" and Draw(seed, "options").below(OPTIONS.index("slopes_per_batch"), 4) == 3
        count = heads * spec["batch"] if own else heads
        learned = [(1 + d.uniform(2 * n)) / 2.0**(1 + d.below(2 * n + 1, 8)) for n in range(count)]
        official = count == heads and d.word(EVERY_INDEX) % 2
        values["slopes"] = slopes(heads) if official else learned
    if "cable" in bias:
        d = Draw(seed, "increments")
        share = 8 if spec["pass"] == "backward" else 2
        relu = d.word(EVERY_INDEX) % share == share - 1
        values["increments"] = [max(0.0, z) / 2 if relu else abs(z) / 4
                                for z in map(d.normal, range(per_key))]
    if "cable" in bias and "_nw" not in bias:
        d = Draw(seed, "gain")
        values["gain"] = [(z + math.sqrt(z * z + 4)) / 2 for z in map(d.normal, range(per_query))]
    if bias == "ggd":
        a, b, m = (Draw(seed, "theta_" + n) for n in ("alpha", "beta", "mu"))
        values["theta_alpha"] = [a.uniform(h) * 2.5 - 1 for h in range(heads)]
        values["theta_beta"] = [{0: 0.0, 1: 1.0}.get(b.below(2 * h, 8),
                                                     b.uniform(2 * h + 1) * 2.5 - 1)
                                for h in range(heads)]
        values["theta_mu"] = [0.0 if m.below(2 * h, 4) else m.uniform(2 * h + 1) / 2 - 0.25
                              for h in range(heads)]
    values.update(newer_parameters(spec))
    if spec["ssmax"]:
        d = Draw(seed, "ssmax_scale")
        values["ssmax_scale"] = [d.uniform(h) * 0.75 + 0.25 for h in range(heads)]
    for name, numbers in values.items():
        yield name, b"".join(map(fp32, numbers))


def boundary(spec, n):
    """Number n of the places where a tile may begin; None for about half of them."""
    d, last = Draw(spec["seed"], "boundaries"), spec["keys"] - 1
    tile = 2**(4 + d.below(4 * n, 5))
    if last < tile or not d.below(4 * n + 1, 2):
        return None
    place = tile * (1 + d.below(4 * n + 2, last // tile))
    return min(max(place + (-1, 1, 0, 0)[d.below(4 * n + 3, 4)], 1), last)


def query_lengths(spec, lengths):
    """The rows of each packed sequence: as many as may be, none, one, or any number."""
    keys, queries, rows = spec["keys"], spec["queries"], []

    def most(length):
        return queries if spec["causal"] and queries > keys else min(queries, length)
    d = Draw(spec["seed"], "query_lengths")
    for b, length in enumerate(lengths):
        kind, any_number = d.below(2 * b, 8), d.below(2 * b + 1, most(length) + 1)
        rows.append(most(length) if kind < 4 else (0, min(1, most(length)), any_number, any_number)[kind - 4])
    if not any(n > 0 and length > 0 for n, length in zip(rows, lengths)):
        lengths[-1] = keys
        rows[-1] = most(keys)
    return rows


def mask(spec):
    keys = spec["keys"]
    if spec["ragged"]:
        d, out = Draw(spec["seed"], "lengths"), []
        for b in range(spec["batch"]):
            kind = d.below(2 * b, 8)
            place = boundary(spec, b)
            out.append(0 if kind == 0 else keys if kind <= 2 else
                       d.below(2 * b + 1, keys + 1) if place is None else place)
        if spec["layout"] == "packed_sequences":
            rows = query_lengths(spec, out)
            yield "query_lengths", struct.pack("<%di" % len(rows), *rows)
        yield "lengths", struct.pack("<%di" % len(out), *out)
    if spec["documents"]:
        d, out = Draw(spec["seed"], "documents"), []
        for b in range(spec["batch"]):
            base = b * (keys + 1)
            forced, document = boundary(spec, spec["batch"] + b) or 1 + d.below(base, keys - 1), 0
            for j in range(keys):
                document += j > 0 and (j == forced or d.below(base + 1 + j, keys) < 4)
                out.append(document)
        yield "documents", struct.pack("<%di" % len(out), *out)


def seen_sets(spec, draw, base):
    """Which keys one [queries, keys] of the mask tensor shows: a set for each query row."""
    keys = spec["keys"]
    rows = range(spec["queries"])
    positions = [spec["query_offset"] + r for r in rows]
    tile, every = 4 * 2**draw.below(base, 5), set(range(keys))

    def coin(a, b):
        return draw.below(base + 2**39 + a * keys + b, 2) == 0

    if spec["mask"] == "prefix":
        prefix = 1 + draw.below(base + 1, keys)
        return [set(range(min(keys, max(prefix, i + 1)))) for i in positions]
    if spec["mask"] == "chunks":
        return [set(range(i - i % tile, i - i % tile + tile)) & every if i >= 0 else set()
                for i in positions]
    if spec["mask"] == "blocks":
        return [{j for j in every if coin(r // tile, j // tile)} for r in rows]
    if spec["mask"] == "sink_tokens":
        first = set(range(1 + draw.below(base + 1, 4))) & every
        return [first | set(range(max(0, i - tile + 1), keys)) for i in positions]
    if spec["mask"] == "scattered":
        return [{j for j in every if coin(r, j)} if draw.below(base + 2 + r, 8) else set()
                for r in rows]
    # A tree. A node's path: everything before the tree, the nodes down to it, and itself.
    nodes = min(keys, spec["queries"], 64)
    root = keys - nodes
    paths = [set(range(root + 1))]
    for n in range(1, nodes):
        paths.append(paths[draw.below(base + 2 + n, n)] | {root + n})
    return [set(range(root)) if i < root else paths[i - root] if i < keys else every
            for i in positions]


def mask_tensor(spec):
    if spec["mask"] == "none":
        return
    copies = (spec["batch"] if spec["mask_per_batch"] else 1) * (
        spec["heads"] if spec["mask_per_head"] else 1)
    draw, out = Draw(spec["seed"], "mask"), bytearray()
    for copy in range(copies):
        for seen in seen_sets(spec, draw, copy * 2**40):
            out += bytes(j in seen for j in range(spec["keys"]))
    yield "mask", bytes(out)


def philox(counter, key):
    """The four words of Philox4x32-10, a list of four under a list of two: Salmon et al., SC11."""
    for _ in range(10):
        high, low = zip(*(divmod(m * c, 2**32)
                          for m, c in ((0xD2511F53, counter[0]), (0xCD9E8D57, counter[2]))))
        counter = [high[1] ^ counter[1] ^ key[0], low[1], high[0] ^ counter[3] ^ key[1], low[0]]
        key = [(k + step) % 2**32 for k, step in zip(key, (0x9E3779B9, 0xBB67AE85))]
    return counter


assert philox([0] * 4, [0] * 2) == [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]


def single(x):
    return struct.unpack("<f", fp32(x))[0]


def dropout(spec):
    if not spec["dropout"]:
        return
    draw, pairs = Draw(spec["seed"], "dropout"), spec["batch"] * spec["heads"] * spec["queries"] * spec["keys"]
    rate, out = single(float(spec["dropout"])), bytearray()
    if spec["keep_given"]:
        yield "keep", bytes(draw.uniform(3 + n) > rate for n in range(pairs))
        return
    seed, far = draw.word(0), draw.word(2)
    offset = (0, far >> 40, far >> 24, 2**32 - 1 - far % pairs)[draw.below(1, 4)]
    for i in range(offset, offset + pairs):
        x = philox([i % 2**32, i >> 32, 0, 0], [seed % 2**32, seed >> 32])[0]
        n = x if x < 2**31 else 2**32 - 1 - x
        out.append(single(single(float(n)) * single(4.6566127342e-10)) > rate)
    yield "keep", bytes(out)


def fnv1a(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001b3) & MASK
    return h


LINE = ("bias={},dtype={},ssmax={},batch=3,heads=6,kv_heads=2,queries=5,keys=11,head_dim=8,"
        "query_offset=4,causal=1,window=none,ragged={},documents={},family={},seed={}")
CASES = [LINE.format(*values) for values in [
    ("nope", "fp32", 0, 0, 0, "generic", 0),
    ("alibi", "bf16", 0, 0, 1, "peaked", 1),
    ("cable", "fp32", 1, 1, 0, "diffuse", 12345),
    ("cable_nw", "bf16", 0, 0, 0, "tied", 7),
    ("k_cable", "fp32", 0, 0, 0, "huge", 18446744073709551615),
    ("k_cable_nw", "bf16", 0, 0, 0, "huge", 9),
    ("ggd", "fp32", 1, 1, 1, "subnormal", 99),
    ("ggd", "bf16", 0, 0, 0, "subnormal", 100),
    ("kerple_log", "fp16", 0, 0, 0, "generic", 11),
    ("kerple_power", "tf32", 0, 0, 0, "huge", 12),
    ("t5", "fp16", 0, 0, 0, "huge", 13),
    ("t5_bidirectional", "fp32", 0, 0, 0, "generic", 14),
    ("t5_clipped", "fp16", 0, 0, 0, "subnormal", 15),
    ("t5_clipped_offset", "fp32", 0, 0, 0, "generic", 16),
    ("fire", "bf16", 0, 0, 0, "generic", 17),
    ("fox", "fp32", 0, 0, 0, "generic", 18),
    ("rope_half_split", "tf32", 0, 0, 0, "subnormal", 19),
    ("cable_paper", "fp16", 0, 0, 0, "generic", 24),
    ("cable_nw_paper", "tf32", 0, 0, 0, "generic", 25),
    ("k_cable_paper", "bf16", 0, 0, 0, "generic", 26),
    ("cope", "fp32", 0, 0, 0, "generic", 27),
    ("dape_v1_alibi", "fp16", 0, 0, 0, "generic", 28),
    ("dape_v1_kerple_log", "fp32", 0, 0, 0, "huge", 29),
    ("dape_v2_cable", "bf16", 0, 0, 0, "generic", 30),
    ("alibi", "e4m3", 0, 0, 0, "peaked", 32),
    ("nope", "e5m2", 0, 0, 0, "huge", 33),
    ("fox", "e4m3", 0, 0, 0, "subnormal", 34),
    ("nope", "fp16", 0, 0, 0, "level", 35),
    ("rope_half_split", "e5m2", 0, 0, 0, "level", 36),
]]
CASES += [line.replace("keys=11", "keys=300").replace("batch=3", "batch=12") for line in [
    LINE.format("nope", "fp32", 0, 1, 1, "generic", seed) for seed in (37, 38)]]
CASES += [LINE.format("alibi", "fp32", 0, 0, 0, "generic", seed) for seed in (39, 40, 41)]
CASES += [LINE.format("cable_nw", "fp32", 0, 0, 0, "generic", seed) for seed in (42, 43)]
CASES += ["pass=backward," + LINE.format(*values) for values in [
    ("fire", "fp16", 0, 0, 0, "huge", 20),
    ("cable", "fp32", 0, 0, 0, "huge", 21),
    ("nope", "bf16", 0, 0, 0, "generic", 22),
    ("rope_interleaved", "bf16", 0, 0, 0, "peaked", 23),
    ("cope", "bf16", 0, 0, 0, "huge", 31),
    ("cable", "e5m2", 0, 0, 0, "tied", 35),
    ("alibi+rope_half_split", "fp32", 0, 0, 0, "peaked", 44),
    ("t5_clipped+rope_interleaved", "fp16", 0, 0, 0, "peaked", 45),
]]

CASES += [LINE.format("bias_tensor", dtype, 0, 0, 0, "generic", seed)
          for dtype, seed in (("fp32", 46), ("bf16", 47), ("fp16", 48), ("e4m3", 49), ("bf16", 50))]

# Mask tensors: long enough for every tile, rows before the keys and beyond them.
LONG = {"keys=11": "keys=90", "queries=5": "queries=70"}
EARLY, LATE = ({"query_offset=4": "query_offset=%d" % offset} for offset in (-9, 30))


def line_with(values, more, replaced=None):
    line = LINE.format(*values)
    for before, after in (replaced or {}).items():
        assert before in line
        line = line.replace(before, after)
    return line + "," + more


CASES += [line_with(*values) for values in [
    (("nope", "fp32", 0, 0, 0, "generic", 51), "mask=prefix,mask_per_head=1", EARLY | LONG),
    (("nope", "bf16", 0, 1, 1, "generic", 52), "mask=chunks,mask_per_batch=1",
     {"query_offset=4": "query_offset=-2"}),
    (("alibi", "fp32", 0, 0, 0, "generic", 53), "mask=chunks", EARLY | LONG),
    (("nope", "fp16", 1, 0, 0, "generic", 54), "mask=blocks,mask_per_batch=1,mask_per_head=1",
     LONG),
    (("nope", "fp32", 0, 0, 0, "tied", 55), "mask=tree,mask_per_batch=1,mask_per_head=1",
     LATE | LONG),
    (("nope", "fp32", 0, 0, 0, "generic", 56), "mask=tree"),
    (("cable", "bf16", 0, 0, 0, "generic", 57), "mask=scattered,mask_per_batch=1,mask_per_head=1"),
    (("nope", "fp32", 0, 0, 0, "generic", 80), "mask=sink_tokens,mask_per_head=1", EARLY | LONG),
    (("nope", "fp16", 0, 0, 0, "tied", 58), "value_dim=5"),
    (("nope", "e5m2", 0, 0, 0, "huge", 59), "value_dim=13"),
    (("nope", "fp32", 0, 0, 0, "generic", 60), "value_dim=5,values_in_keys=1"),
    (("rope_half_split", "fp32", 0, 0, 0, "level", 61), "values_in_keys=1"),
    (("nope", "e4m3", 0, 0, 0, "generic", 62), "value_dim=3,values_in_keys=1"),
    (("nope", "e4m3", 0, 1, 0, "peaked", 63),
     "pass=decode,value_dim=7,values_in_keys=1,mask=prefix"),
    (("nope", "bf16", 0, 0, 0, "generic", 64),
     "pass=backward,value_dim=6,mask=scattered,lse_gradient=1"),
    (("alibi", "e4m3", 0, 0, 0, "generic", 65), "pass=backward,value_dim=10,lse_gradient=1"),
    (("alibi", "bf16", 0, 0, 0, "generic", 66), "dropout=0.1"),
    (("rope_half_split", "fp32", 0, 1, 0, "generic", 68),
     "pass=backward,dropout=0.875,rotary_dim=4"),
    (("nope", "fp16", 0, 0, 0, "huge", 73), "dropout=0.875"),
    (("nope", "fp16", 0, 0, 0, "generic", 74), "dropout=0.5,keep_given=1"),
    *((("nope", "fp16", 0, 0, 0, "generic", seed), "dropout=0.5") for seed in range(75, 79)),
    (("nope", "bf16", 0, 0, 0, "generic", 69), "pass=decode,cache=int8,scale_per_key=1"),
    (("nope", "fp32", 0, 0, 0, "tied", 70), "pass=decode,cache=e4m3,scale_per_key=1"),
    (("alibi", "fp16", 0, 0, 0, "huge", 71), "pass=decode,cache=e5m2"),
    (("nope", "fp16", 0, 0, 0, "peaked", 72),
     "pass=decode,cache=int8,value_dim=4,values_in_keys=1"),
    *((("nope", "fp32", 0, 1, 0, "generic", seed), "pass=decode,page_size=4") for seed in (85, 86, 87)),
    (("nope", "fp32", 0, 0, 0, "tied", 87), "pass=decode,page_size=4"),
    (("nope", "bf16", 0, 0, 0, "level", 87), "pass=decode,page_size=4,values_in_keys=1"),
    (("nope", "bf16", 0, 0, 0, "generic", 87), "pass=decode,page_size=4,cache=int8,scale_per_key=1"),
    (("nope", "fp16", 0, 0, 0, "tied", 87), "pass=decode,page_size=4,cache=e4m3,scale_per_key=1"),
    (("alibi", "fp16", 0, 0, 0, "generic", 87), "pass=decode,page_size=4,cache=e5m2"),
    *((("nope", "fp32", 0, 1, 0, "generic", seed), "queries_at_end=1,layout=packed_sequences", replaced)
      for seed, replaced in ((81, {"offset=4": "offset=6"}), (82, {"offset=4": "offset=6", "batch=3": "batch=1"}),
                             (83, {"offset=4": "offset=-9", "queries=5": "queries=20"}),
                             (84, {"offset=4": "offset=-9", "queries=5": "queries=20", "causal=1": "causal=0"}))),
]]

DEFAULTS = {"pass": "forward", "mask": "none", "mask_per_batch": "0", "mask_per_head": "0",
            "values_in_keys": "0", "lse_gradient": "0", "dropout": "0",
            "page_size": "0", "cache": "in_format", "scale_per_key": "0", "keep_given": "0", "layout": "contiguous"}
for line in CASES:
    fields = DEFAULTS | dict(pair.split("=") for pair in line.split(","))
    spec = {k: int(v) if v.lstrip("-").isdigit() else v for k, v in fields.items()}
    spec.setdefault("value_dim", spec["head_dim"])
    for part in (qkv, parameters, mask, mask_tensor, dropout):
        for tensor, data in part(spec):
            print(line, tensor, "%016x" % fnv1a(data))
