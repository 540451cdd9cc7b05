# SPDX-License-Identifier: Apache-2.0
"""GPT-2, BERT and the LLaMA-style model in PyTorch, from their definitions; gradients by autograd.

Nothing is shared with the C++ equations. Parameters have Hugging Face's names and orientations
(GPT-2's Conv1D is [in, out], PyTorch's Linear [out, in]). One sequence of T tokens.

A model is a class with
  parameters()   name -> (axes, kind): an axis is a letter below or a number, kind is "weight",
                 "gain" (of a norm) or "bias";
  logits(p, ids) what comes out, p: name -> tensor.
Axes: V vocabulary, C width, F width of the feed-forward layer. The result does not depend on the
order of C and F, nor the loss on that of V: pytorch_check.py permutes them."""
import math

import torch


def layernorm(x, gain, bias, epsilon):
    centred = x - x.mean(-1, keepdim=True)
    return gain * centred / torch.sqrt((centred ** 2).mean(-1, keepdim=True) + epsilon) + bias


def rmsnorm(x, gain, epsilon):
    return gain * x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + epsilon)


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu_erf(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def attention(q, k, v, heads, causal, position, x, p, name):
    """Multi-head attention of T tokens; q, k, v [T, C], the result [T, C]. Positions and SSMax have
    their parameters under `name`."""
    T = q.shape[0]
    q, k, v = (m.reshape(T, heads, -1).transpose(0, 1) for m in (q, k, v))
    q, k = position.rotated(q), position.rotated(k)
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[2])
    scores = scores + position.bias(x, p, name + ".position", heads)
    i, j = torch.arange(T)[:, None], torch.arange(T)[None, :]
    visible = position.visible(i, j) & ((j <= i) if causal else (j == j))
    if name + ".ssmax.scale" in p:
        n = visible.sum(1).double()
        scores = scores * (p[name + ".ssmax.scale"][:, None, None] * torch.log(n)[None, :, None])
    weights = scores.masked_fill(~visible, -math.inf).softmax(-1)
    return (weights @ v).transpose(0, 1).reshape(T, -1)


class Gpt2:
    epsilon, gelu, swapped_norms = 1e-5, staticmethod(gelu_tanh), False

    def __init__(self, c, position):
        self.c, self.position = c, position

    def parameters(self):
        yield "transformer.wte.weight", ("V", "C"), "weight"
        if self.c["embedding"] == "learnable":
            yield "transformer.wpe.weight", (self.c["positions"], "C"), "weight"
        for layer in range(self.c["layers"]):
            h = f"transformer.h.{layer}"
            C = self.c["C"]
            yield f"{h}.ln_1.weight", ("C",), "gain"
            yield f"{h}.ln_1.bias", ("C",), "bias"
            yield f"{h}.attn.c_attn.weight", ("C", 3 * C), "weight"
            yield f"{h}.attn.c_attn.bias", (3 * C,), "bias"
            yield f"{h}.attn.c_proj.weight", (C, "C"), "weight"
            yield f"{h}.attn.c_proj.bias", ("C",), "bias"
            yield from self.position.parameters(f"{h}.attn.position", self.c["heads"])
            if self.c["ssmax"]:
                yield f"{h}.attn.ssmax.scale", (self.c["heads"],), "gain"
            yield f"{h}.ln_2.weight", ("C",), "gain"
            yield f"{h}.ln_2.bias", ("C",), "bias"
            yield f"{h}.mlp.c_fc.weight", ("C", "F"), "weight"
            yield f"{h}.mlp.c_fc.bias", ("F",), "bias"
            yield f"{h}.mlp.c_proj.weight", ("F", "C"), "weight"
            yield f"{h}.mlp.c_proj.bias", ("C",), "bias"
        yield "transformer.ln_f.weight", ("C",), "gain"
        yield "transformer.ln_f.bias", ("C",), "bias"

    def logits(self, p, ids, channels):
        def norm(name, x):
            return layernorm(x, p[name + ".weight"], p[name + ".bias"], self.epsilon)

        def conv1d(name, x):
            return x @ p[name + ".weight"] + p[name + ".bias"]

        ln_1, ln_2 = ("ln_2", "ln_1") if self.swapped_norms else ("ln_1", "ln_2")
        x = p["transformer.wte.weight"][ids]
        if self.c["embedding"] == "learnable":
            x = x + p["transformer.wpe.weight"][:len(ids)]
        if self.c["embedding"] == "sinusoidal":
            x = x + sinusoidal(len(ids), self.c["C"])[:, channels]
        for layer in range(self.c["layers"]):
            h = f"transformer.h.{layer}"
            normed = norm(f"{h}.{ln_1}", x)
            q, k, v = conv1d(f"{h}.attn.c_attn", normed).chunk(3, -1)
            mixed = attention(q, k, v, self.c["heads"], True, self.position, normed, p, f"{h}.attn")
            x = x + conv1d(f"{h}.attn.c_proj", mixed)
            hidden = self.gelu(conv1d(f"{h}.mlp.c_fc", norm(f"{h}.{ln_2}", x)))
            x = x + conv1d(f"{h}.mlp.c_proj", hidden)
        return norm("transformer.ln_f", x) @ p["transformer.wte.weight"].T


class Bert:
    epsilon, gelu, swapped_norms = 1e-12, staticmethod(gelu_erf), False

    def __init__(self, c, position):
        self.c, self.position = c, position

    def parameters(self):
        C = self.c["C"]

        def linear(name, out, into):
            yield name + ".weight", (out, into), "weight"
            yield name + ".bias", (out,), "bias"

        def norm(name):
            yield name + ".weight", ("C",), "gain"
            yield name + ".bias", ("C",), "bias"

        yield "bert.embeddings.word_embeddings.weight", ("V", "C"), "weight"
        if self.c["embedding"] == "learnable":
            yield "bert.embeddings.position_embeddings.weight", (self.c["positions"], "C"), "weight"
        yield "bert.embeddings.token_type_embeddings.weight", (2, "C"), "weight"
        yield from norm("bert.embeddings.LayerNorm")
        for layer in range(self.c["layers"]):
            h = f"bert.encoder.layer.{layer}"
            for part in ("query", "key", "value"):
                yield from linear(f"{h}.attention.self.{part}", C, "C")
            yield from self.position.parameters(f"{h}.attention.self.position", self.c["heads"])
            yield from linear(f"{h}.attention.output.dense", "C", C)
            yield from norm(f"{h}.attention.output.LayerNorm")
            yield from linear(f"{h}.intermediate.dense", "F", "C")
            yield from linear(f"{h}.output.dense", "C", "F")
            yield from norm(f"{h}.output.LayerNorm")
        yield from linear("cls.predictions.transform.dense", "C", "C")
        yield from norm("cls.predictions.transform.LayerNorm")
        yield "cls.predictions.bias", ("V",), "bias"

    def logits(self, p, ids, channels):
        def linear(name, x):
            return x @ p[name + ".weight"].T + p[name + ".bias"]

        def norm(name, x):
            return layernorm(x, p[name + ".weight"], p[name + ".bias"], self.epsilon)

        words = p["bert.embeddings.word_embeddings.weight"]
        types = torch.tensor(self.c["token_types"])
        x = words[ids] + p["bert.embeddings.token_type_embeddings.weight"][types]
        if self.c["embedding"] == "learnable":
            x = x + p["bert.embeddings.position_embeddings.weight"][:len(ids)]
        x = norm("bert.embeddings.LayerNorm", x)
        for layer in range(self.c["layers"]):
            h = f"bert.encoder.layer.{layer}"
            norms = [f"{h}.attention.output.LayerNorm", f"{h}.output.LayerNorm"]
            if self.swapped_norms:
                norms.reverse()
            q, k, v = (linear(f"{h}.attention.self.{part}", x)
                       for part in ("query", "key", "value"))
            mixed = attention(q, k, v, self.c["heads"], False, self.position, x, p,
                              f"{h}.attention.self")
            x = norm(norms[0], x + linear(f"{h}.attention.output.dense", mixed))
            hidden = self.gelu(linear(f"{h}.intermediate.dense", x))
            x = norm(norms[1], x + linear(f"{h}.output.dense", hidden))
        x = norm("cls.predictions.transform.LayerNorm",
                 self.gelu(linear("cls.predictions.transform.dense", x)))
        return x @ words.T + p["cls.predictions.bias"]


class Llama:
    epsilon = 1e-5

    def __init__(self, c, position):
        self.c, self.position = c, position

    def parameters(self):
        C = self.c["C"]
        yield "model.embed_tokens.weight", ("V", "C"), "weight"
        for layer in range(self.c["layers"]):
            h = f"model.layers.{layer}"
            yield f"{h}.input_layernorm.weight", ("C",), "gain"
            for part in "qkv":
                yield f"{h}.self_attn.{part}_proj.weight", (C, "C"), "weight"
            yield f"{h}.self_attn.o_proj.weight", ("C", C), "weight"
            yield from self.position.parameters(f"{h}.self_attn.position", self.c["heads"])
            if self.c["ssmax"]:
                yield f"{h}.self_attn.ssmax.scale", (self.c["heads"],), "gain"
            yield f"{h}.post_attention_layernorm.weight", ("C",), "gain"
            yield f"{h}.mlp.gate_proj.weight", ("F", "C"), "weight"
            yield f"{h}.mlp.up_proj.weight", ("F", "C"), "weight"
            yield f"{h}.mlp.down_proj.weight", ("C", "F"), "weight"
        yield "model.norm.weight", ("C",), "gain"
        yield "lm_head.weight", ("V", "C"), "weight"

    def logits(self, p, ids, channels):
        x = p["model.embed_tokens.weight"][ids]
        if self.c["embedding"] == "sinusoidal":
            x = x + sinusoidal(len(ids), self.c["C"])[:, channels]
        for layer in range(self.c["layers"]):
            h = f"model.layers.{layer}"
            normed = rmsnorm(x, p[f"{h}.input_layernorm.weight"], self.epsilon)
            q, k, v = (normed @ p[f"{h}.self_attn.{part}_proj.weight"].T for part in "qkv")
            mixed = attention(q, k, v, self.c["heads"], True, self.position, normed, p,
                              f"{h}.self_attn")
            x = x + mixed @ p[f"{h}.self_attn.o_proj.weight"].T
            normed = rmsnorm(x, p[f"{h}.post_attention_layernorm.weight"], self.epsilon)
            gate = normed @ p[f"{h}.mlp.gate_proj.weight"].T
            up = normed @ p[f"{h}.mlp.up_proj.weight"].T
            x = x + (gate * torch.sigmoid(gate) * up) @ p[f"{h}.mlp.down_proj.weight"].T
        return rmsnorm(x, p["model.norm.weight"], self.epsilon) @ p["lm_head.weight"].T


def sinusoidal(length, width, base=10000.0):
    """Vaswani et al.: even channels sin(t base^(-2k/C)), odd ones cos of the same."""
    frequency = base ** (-torch.arange(0, width, 2).double() / width)
    angle = torch.arange(length).double()[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], -1).reshape(length, width)


def loss(logits, targets):
    """Mean cross-entropy in nats over the tokens whose target is not None."""
    rows = [t for t, target in enumerate(targets) if target is not None]
    picked = logits[rows]
    of_target = picked.gather(1, torch.tensor([targets[t] for t in rows])[:, None])[:, 0]
    return (torch.logsumexp(picked, 1) - of_target).mean()


MODELS = {"gpt2": Gpt2, "bert": Bert, "llama": Llama}
