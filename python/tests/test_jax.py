# SPDX-License-Identifier: Apache-2.0
"""A JAX function passes with gradients, in float32 and bfloat16; its broken twin fails."""
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (PyPI's package jax)")
import jax.numpy as jnp  # noqa: E402

import plumbline  # noqa: E402

SHORT = {"cases": 6, "longest": 24, "head_dims": [32]}
# XLA on a CPU takes subnormal numbers as 0: a check without this says so.
XLA = {"prefix_sum": "fp32", "flushes_subnormals": True}


def cable(q, k, v, increments, gain):
    kernel = "bhid,bhjd->bhij"
    s = jnp.einsum(kernel, q, k, preferred_element_type=jnp.float32) / q.shape[-1] ** 0.5
    total = jnp.cumsum(increments, -1)
    s = s - gain[..., None] * (total[..., :, None] - total[..., None, :])
    s = jnp.where(jnp.tri(q.shape[2], dtype=bool), s, -jnp.inf)
    lse = jax.nn.logsumexp(s, -1)
    p = jnp.exp(s - lse[..., None]).astype(v.dtype)
    o = jnp.einsum("bhij,bhjd->bhid", p, v, preferred_element_type=jnp.float32)
    return o.astype(q.dtype), lse


@pytest.mark.parametrize("dtype, format", [("float32", "fp32"), ("bfloat16", "bf16")])
def test_jax_passes_and_a_wrong_gain_fails(dtype, format):
    contract = plumbline.Contract(probability_format=format, **XLA)
    settings = {"framework": "jax", "dtype": dtype, "contract": contract, **SHORT}
    plumbline.check(cable, plumbline.Cable, **settings)
    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(
            lambda q, k, v, increments, gain: cable(q, k, v, increments, gain * 1.01),
            plumbline.Cable, **settings,
        )  # fmt: skip


def test_the_call_that_repeats_a_failure_is_of_jax():
    contract = plumbline.Contract(**XLA)
    settings = {"dtype": jnp.float32, "backward": True, "contract": contract, **SHORT}

    def wrong(q, k, v, increments, gain):
        return cable(q, k, v, increments, gain * 1.01)

    failed = pytest.raises(plumbline.CheckFailed, plumbline.check, wrong, plumbline.Cable, **settings).value
    again = pytest.raises(plumbline.CheckFailed, eval, failed.repeat, {"plumbline": plumbline, "wrong": wrong}).value
    assert again.case == failed.case and again.kind == failed.kind == "outside_bound"


def test_a_device_that_jax_lacks_is_refused():
    with pytest.raises(ValueError, match="device is 'gpus'; expected one that JAX has here: Unknown backend"):
        plumbline.check(cable, plumbline.Cable, framework="jax", device="gpus", **SHORT)


def test_gradients_by_vjp_pass():
    contract = plumbline.Contract(**XLA)
    plumbline.check(
        cable, plumbline.Cable, framework="jax", backward=True, contract=contract, **SHORT
    )
