# SPDX-License-Identifier: Apache-2.0
"""The position methods once more, with mpmath, from the papers and their published code.

Nothing is shared with the C++ equations. `x` maps the names of a problem's inputs to tensors that
are indexed as x["k"][b, h, j, d]; `case` is the problem as the golden file has it.
"""
import itertools

from mpmath import mp, mpf


def number(word):
    return mpf("-inf") if word == "-inf" else mpf(float.fromhex(word))


class Tensor:
    def __init__(self, shape, data):
        self.shape, self.data = shape, data

    @classmethod
    def parse(cls, entry):
        return cls(entry["shape"], [number(word) for word in entry["data"].split()])

    def __getitem__(self, index):
        flat = 0
        for i, extent in zip(index, self.shape):
            assert 0 <= i < extent
            flat = flat * extent + i
        return self.data[flat]


def option(case, name):
    return number(case[name])


def dot(a, b):
    return mp.fsum(p * q for p, q in zip(a, b))


def sigmoid(z):
    return 1 / (1 + mp.exp(-z))


# ---- Cumulative sums of the tokens of one head ----

def increments_of(method, case, x, b, h):
    """What CABLE's S and FoX's c add up: [keys]."""
    keys = case["shape"]["keys"]
    if method == "fox":  # log sigmoid(w_f . x_t + b_f)
        width = int(option(case, "width"))
        return [mp.log(sigmoid(dot([x["w_f"][h, c] for c in range(width)],
                                   [x["x"][b, t, c] for c in range(width)]) + x["b_f"][h,]))
                for t in range(keys)]
    return [x["increments"][b, h, t] for t in range(keys)]


def prefix_sums(method, case, x):
    """S [batch, heads, keys], or None for a method without one."""
    if method != "fox" and "increments" not in x:
        return None
    s = case["shape"]
    sums = []
    for b, h in itertools.product(range(s["batch"]), range(s["heads"])):
        sums += itertools.accumulate(increments_of(method, case, x, b, h))
    return Tensor([s["batch"], s["heads"], s["keys"]], sums)


# ---- Biases ----

def t5_bucket(i, j, buckets, distance, bidirectional):
    n, base = max(i - j, 0), 0
    if bidirectional:
        n, buckets = abs(i - j), buckets // 2
        base = buckets if j > i else 0
    exact = buckets // 2
    if n < exact:
        return base + n
    steps = mp.log(mpf(n) / exact) / mp.log(mpf(distance) / exact) * (buckets - exact)
    # 50 digits above the rounding of the quotient where it is a whole number.
    return base + min(buckets - 1, exact + int(mp.floor(steps + mpf(10) ** -50)))


def fire(case, x, h, i, j):
    reach = max(mpf(i), abs(x["L"][0,] * option(case, "L0")))
    ratio = (mp.log(abs(x["c"][0,] * (i - j)) + 1) /
             (mp.log(abs(x["c"][0,] * reach) + 1) + option(case, "epsilon")))
    hidden = range(int(option(case, "hidden")))
    units = [max(x["hidden_weight"][n,] * ratio + x["hidden_bias"][n,], mpf(0)) for n in hidden]
    return dot([x["output_weight"][h, n] for n in hidden], units) + x["output_bias"][h,]


def bias_of(method, case, x, b, h, r, i, j, prefix):
    if method == "nope":
        return mpf(0)
    if method == "alibi":
        return -x["slopes"][h,] * abs(i - j)
    if method == "alibi_geometric":
        return -mpf(2) ** (-mpf(8) * (h + 1) / case["shape"]["heads"]) * abs(i - j)
    if method == "ggd":
        mu = mp.exp(x["theta_mu"][h,]) - mp.exp(-x["theta_mu"][h,])
        distance = abs(j - i - mu) + option(case, "epsilon")
        return -mp.exp(x["theta_alpha"][h,]) * distance ** x["theta_beta"][h,]
    if method == "kerple_log":
        return -x["p"][h,] * mp.log(1 + x["a"][h,] * abs(i - j))
    if method == "kerple_power":
        return -x["a"][h,] * mpf(abs(i - j)) ** x["p"][h,] if i != j else mpf(0)
    if method == "sandwich":
        cosines = [mp.cos((i - j) / mpf(10000) ** (mpf(2 * k) / 128)) for k in range(1, 65)]
        return (mp.fsum(cosines) - 64) / x["compression"][h,]
    if method == "fire":
        return fire(case, x, h, i, j)
    if method in ("t5", "t5_bidirectional"):
        row = t5_bucket(i, j, int(option(case, "buckets")), int(option(case, "max_distance")),
                        method == "t5_bidirectional")
        return x["table"][h, row]
    if method.startswith("t5_clipped"):
        largest = int(option(case, "largest"))
        if method == "t5_clipped":  # r_min(i-j, K); later keys take r_0
            return x["table"][h, max(0, min(i - j, largest))]
        return x["table"][h, largest + max(-largest, min(i - j, largest))]
    if method == "bias_tensor":  # axes of size 1 are the same for all
        batch, heads, queries, _ = x["tensor"].shape
        return x["tensor"][b % batch, h % heads, r % queries, j]
    difference = prefix[b, h, i] - prefix[b, h, j]
    gain = x["gain"][b, h, r] if "gain" in x else mpf(1)
    return {"fox": lambda: difference,
            "cable": lambda: -gain * abs(difference),
            "cable_nw": lambda: -abs(difference),
            "cable_paper": lambda: gain * difference,
            "cable_nw_paper": lambda: difference,
            "k_cable": lambda: -gain * mp.log(1 + difference ** 2),
            "k_cable_nw": lambda: -mp.log(1 + difference ** 2),
            "k_cable_paper": lambda: -mp.log(1 + (gain * difference) ** 2)}[method]()


# ---- RoPE: a pair of components is a complex number ----

def rotated(vector, position, base, interleaved):
    size = len(vector)
    result = [None] * size
    for k in range(size // 2):
        one, two = (2 * k, 2 * k + 1) if interleaved else (k, k + size // 2)
        z = mp.mpc(vector[one], vector[two])
        z *= mp.expj(position * mpf(base) ** (-mpf(2 * k) / size))
        result[one], result[two] = z.real, z.imag
    return result


# ---- CoPE and DAPE: rows of logits ----

def cope_logits(case, x, h, q, scores):
    """`scores` of the visible keys, in their order."""
    positions = int(option(case, "positions"))
    by_position = [dot(q, [x["position_embedding"][h, n, d] for d in range(len(q))])
                   for n in range(positions)]
    logits = []
    for n, score in enumerate(scores):
        p = min(mp.fsum(sigmoid(later) for later in scores[n:]), mpf(positions - 1))
        low, high = int(mp.floor(p)), int(mp.ceil(p))
        part = p - low
        logits.append(score + (1 - part) * by_position[low] + part * by_position[high])
    return logits


def convolution(features, weight, bias, taps):
    """Conv2d with a kernel of 1 x taps over [channels][keys], zeros beyond the ends."""
    keys = len(features[0])
    return [[bias[o,] + mp.fsum(weight[o, c * taps + t] * features[c][j + t - taps // 2]
                                for c in range(len(features)) for t in range(taps)
                                if 0 <= j + t - taps // 2 < keys)
             for j in range(keys)] for o in range(weight.shape[0])]


def dape_logits(version, x, i, products, biases):
    """[heads][keys], for the query at position i: A + B + f([A; B])."""
    features = [list(row) for row in products + biases]
    if version == 2:  # tril before the first layer
        features = [[value if j <= i else mpf(0) for j, value in enumerate(row)]
                    for row in features]
    taps = 1 if version == 1 else 3
    hidden = [[value if value > 0 else value / 100 for value in row] for row in
              convolution(features, x["hidden_weight"], x["hidden_bias"], taps)]
    corrected = convolution(hidden, x["output_weight"], x["output_bias"], taps)
    return [[a + b + f for a, b, f in zip(*rows)] for rows in zip(products, biases, corrected)]


# ---- Embeddings ----

def position_row(method, case, x, t, width):
    """What is added at position t."""
    if method == "learnable":
        return [x["table"][t, c] for c in range(width)]
    base, amplitude = option(case, "base"), option(case, "amplitude")
    row = []
    for c in range(width):
        exponent = c if method == "sinusoidal_own_frequency" else c - c % 2
        angle = t * base ** (-mpf(exponent) / width)
        row.append(amplitude * (mp.cos(angle) if c % 2 else mp.sin(angle)))
    return row
