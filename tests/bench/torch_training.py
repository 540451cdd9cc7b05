# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of training.py: the same GPT-2, from the same weights, on the same tokens.

Usage: torch_training.py DEVICE ceiling, or torch_training.py DEVICE RUN SHARD UPDATES WARM_UP, where
RUN is the folder of a run of `plumbline train --sequential` that began with checkpoint-00000000 and
DEVICE is cuda or cpu. Prints one JSON object. On cuda, bf16 by autocast over fp32 weights (a run in
another format stays in fp32), SDPA, fused AdamW and torch.compile; on cpu eager fp32. The bias of
CABLE and GGD goes to SDPA as a tensor: PyTorch has no kernel for them."""
import json
import math
import pathlib
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


def distances(x):
    t = torch.arange(x.shape[1], device=x.device)
    return t[:, None] - t[None, :]


class Cable(nn.Module):
    """-softplus(g_i) (S_i - S_j), S the prefix sums of relu(z): CABLE's bias [B, H, T, T]."""

    def __init__(self, heads, width):
        super().__init__()
        self.increment, self.gain = nn.Linear(width, heads), nn.Linear(width, heads)

    def forward(self, x):
        S = self.increment(x).float().relu().cumsum(1).transpose(1, 2)
        g = F.softplus(self.gain(x).transpose(1, 2).contiguous().float())
        return -g[..., None] * (S[..., :, None] - S[..., None, :])


class Ggd(nn.Module):
    """-e^alpha (|(j - i) - mu| + 1e-5)^beta, mu = e^m - e^-m not trained: BAM's prior [1, H, T, T]."""

    def __init__(self, heads, width):
        super().__init__()
        self.theta_alpha, self.theta_beta = (nn.Parameter(torch.zeros(heads)) for _ in range(2))
        self.theta_mu = nn.Parameter(torch.zeros(heads), requires_grad=False)

    def forward(self, x):
        alpha, beta, m = (theta[:, None, None]
                          for theta in (self.theta_alpha, self.theta_beta, self.theta_mu))
        mu = torch.exp(m) - torch.exp(-m)
        return -(torch.exp(alpha) * ((-distances(x) - mu).abs() + 1e-5) ** beta)[None]


BIASES = {"nope": None, "cable": Cable, "ggd": Ggd}


def attend(q, k, v, bias):
    """Causal attention; q, k, v [B, H, T, D]."""
    if bias is not None:
        hidden = distances(q.transpose(1, 2)) < 0
        bias = bias.masked_fill(hidden, -math.inf).to(q.dtype)
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=bias is None)
    if bias is None:  # before PyTorch 2
        bias = torch.zeros(()).masked_fill(distances(q.transpose(1, 2)) < 0, -math.inf)
    return (q @ k.transpose(2, 3) / math.sqrt(q.shape[3]) + bias).softmax(-1) @ v


class Attention(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.heads = m["heads"]
        self.c_attn = nn.Linear(m["width"], 3 * m["width"])
        self.c_proj = nn.Linear(m["width"], m["width"])
        bias = BIASES[m["position"]]
        self.position = bias(m["heads"], m["width"]) if bias else None

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (y.view(B, T, self.heads, -1).transpose(1, 2)
                   for y in self.c_attn(x).split(C, 2))
        o = attend(q, k, v, self.position(x) if self.position else None)
        return self.c_proj(o.transpose(1, 2).reshape(B, T, C))


class FeedForward(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.c_fc = nn.Linear(m["width"], m["hidden"])
        self.c_proj = nn.Linear(m["hidden"], m["width"])

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Layer(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.ln_1, self.ln_2 = (nn.LayerNorm(m["width"], m["epsilon"]) for _ in range(2))
        self.attn, self.mlp = Attention(m), FeedForward(m)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    """Without positions in the embedding; the head is tied to it."""

    def __init__(self, m):
        super().__init__()
        self.wte = nn.Embedding(m["vocabulary"], m["width"])
        self.h = nn.ModuleList(Layer(m) for _ in range(m["layers"]))
        self.ln_f = nn.LayerNorm(m["width"], m["epsilon"])

    def forward(self, ids, labels):
        x = self.wte(ids)
        for layer in self.h:
            x = layer(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def load(model, path):
    """The parameters of a safetensors file, all of them; Conv1D's weights are [in, out]."""
    data = pathlib.Path(path).read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    own = dict(model.named_parameters())
    for name, entry in header.items():
        if not name.startswith("transformer."):
            continue
        first, end = (begin + at for at in entry["data_offsets"])
        value = torch.frombuffer(bytearray(data[first:end]), dtype=torch.float32)
        value = value.reshape(entry["shape"])
        parameter = own.pop(name.removeprefix("transformer."))
        conv1d = "attn.c_" in name or "mlp.c_" in name
        with torch.no_grad():
            parameter.copy_(value.T if conv1d and value.dim() == 2 else value)
    if own:
        sys.exit(f"{path} lacks {', '.join(own)}")


def tokens_of(shard):
    data = pathlib.Path(shard).read_bytes()[1024:]
    return torch.frombuffer(bytearray(data), dtype=torch.int16).long() & 0xFFFF


def optimizer_for(model, terms, device):
    o = terms["optimizer"]
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [{"params": [p for p in trained if p.dim() >= 2], "weight_decay": o["weight_decay"]},
              {"params": [p for p in trained if p.dim() < 2], "weight_decay": 0.0}]
    fused = {"fused": True} if device == "cuda" else {}
    return torch.optim.AdamW(groups, lr=terms["schedule"]["highest"], eps=o["epsilon"],
                             betas=(o["beta1"], o["beta2"]), **fused)


def trained(device, run, shard, updates, warm_up):
    run = pathlib.Path(run)
    terms = json.loads((run / "run.json").read_text())
    model = Gpt2(terms["model"])
    load(model, run / "checkpoint-00000000.safetensors")
    model.to(device)
    optimizer = optimizer_for(model, terms, device)
    compiled = torch.compile(model) if device == "cuda" else model
    bf16 = terms["model"]["format"] == "bf16"
    tokens, rows, T = tokens_of(shard), terms["batch"], terms["length"]
    losses, norms, seconds = [], [], []
    for n in range(updates):
        start = time.perf_counter()
        batch = tokens[n * rows * T:(n + 1) * rows * T + 1].to(device)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=bf16):
            loss = compiled(batch[:-1].view(rows, T), batch[1:].view(rows, T))
        loss.backward()
        norm = nn.utils.clip_grad_norm_(
            [p for p in model.parameters() if p.requires_grad], terms["optimizer"]["max_norm"])
        optimizer.step()
        losses.append(loss.item())
        norms.append(norm.item())
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    allocated = {"peak_allocated": torch.cuda.max_memory_allocated()} if device == "cuda" else {}
    return {"tokens_per_second": rows * T / statistics.median(seconds[warm_up:]),
            "loss": losses[0], "gradient_norm": norms[0], **allocated}


def ceiling(device):
    """Operations a second of a large matrix product (on the CPU a small one), median of 30."""
    n, dtype = (8192, torch.bfloat16) if device == "cuda" else (256, torch.float32)
    a = torch.randn(n, n, device=device, dtype=dtype)
    seconds = []
    for _ in range(33):
        start = time.perf_counter()
        a @ a
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return {"torch": torch.__version__, "size": n, "flops": 2 * n**3 / statistics.median(seconds[3:])}


def main():
    device = sys.argv[1]
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit(f"PyTorch {torch.__version__} sees no GPU")
    torch.set_float32_matmul_precision("high")
    answer = (ceiling(device) if sys.argv[2] == "ceiling"
              else trained(device, *sys.argv[2:4], *map(int, sys.argv[4:6])))
    print(json.dumps(answer))


main()
