// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/named_contracts.hpp"

#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/formats.hpp"

namespace plumbline::cases {
namespace {

using Contract = plumbline_contract;

/// One block from the first key or query to the last.
constexpr std::int32_t all_in_one_block = 1 << 24;

/// A format of 16 bits, and its unit roundoff.
struct Stored {
  std::int32_t format;
  double roundoff;
};

// Each is given undeclared_contract(). `stored` is fp32 with roundoff 0 in fp32 and tf32.

void pytorch_math(Contract& c, const Stored&) { c.no_lse = 1; }

void pytorch_math_16_bits(Contract& c, const Stored& stored) {
  c.operand_roundoff = stored.roundoff;
  c.probability_format = c.score_format = c.grad_probability_format = stored.format;
  c.head_gradient_format = c.gradient_sum_format = stored.format;
  c.sum_block = stored.roundoff > 0 ? all_in_one_block : 0;
  c.saves_rounded_p = stored.roundoff > 0;
  c.flushes_subnormals = 1;
  c.no_lse = 1;
  c.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_NAN;
}

void pytorch_flash_cpu(Contract& c, const Stored& stored) {
  c.no_lse = 1;
  if (!(stored.roundoff > 0)) return;
  c.probability_format = c.head_gradient_format = c.gradient_sum_format = stored.format;
  c.sum_block = 32;
  c.exp_error = 0x1p-14;
  c.inexact_exp_zero = 1;
  c.flushes_subnormals = 1;
}

void flash_attention_2(Contract& c, const Stored& stored) {
  c.unit_roundoff = 0x1p-23;
  c.probability_format = c.head_gradient_format = stored.format;
  c.flushes_subnormals = 1;
  c.empty_rows = PLUMBLINE_EMPTY_ROWS_HAVE_PLUS_INF;
  c.largest_score = 0x1p24;
  c.alibi_of_key = 1;
  c.tanh_error = 0x1p-11;
}

void flash_attention_3(Contract& c, const Stored& stored) {
  c.unit_roundoff = 0x1p-23;
  c.probability_format = stored.format;
  c.flushes_subnormals = 1;
  c.largest_score = 0x1p24;
  c.tanh_error = 0x1p-11;
}

void flex_attention(Contract& c, const Stored& stored) {
  c.unit_roundoff = 0x1p-23;
  c.probability_format = stored.format;
  c.flushes_subnormals = 1;
}

void flex_attention_eager(Contract& c, const Stored& stored) {
  c.probability_format = c.score_format = c.grad_probability_format = stored.format;
  c.delta_format = c.head_gradient_format = stored.format;
}

void jax(Contract& c, const Stored& stored) {
  c.probability_format = c.grad_probability_format = stored.format;
  c.prefix_sum = PLUMBLINE_PREFIX_SUM_FP32;
  c.flushes_subnormals = 1;
  c.no_lse = 1;
  c.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_MEANS;
}

void onnxruntime(Contract& c, const Stored& stored) {
  c.unit_roundoff = 0x1p-23;
  c.probability_format = c.score_format = stored.format;
  c.flushes_subnormals = 1;
  c.no_lse = 1;
  c.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE;
}

void triton_tutorial(Contract& c, const Stored& stored) {
  c.unit_roundoff = 0x1p-23;
  c.operand_roundoff = stored.roundoff;
  c.probability_format = stored.format;
  c.flushes_subnormals = 1;
  c.no_lse = 1;
  c.largest_score = 0x1p24;
}

struct Named {
  const char* name;
  void (*declare)(Contract&, const Stored&);
  bool in_fp32;  ///< not of 16 bits alone
};
constexpr Named all[] = {{"pytorch_math", pytorch_math, true},
                         {"flex_attention", flex_attention, false},
                         {"flash_attention_3", flash_attention_3, false},
                         {"flash_attention_2", flash_attention_2, false},
                         {"jax", jax, true},
                         {"pytorch_flash_cpu", pytorch_flash_cpu, true},
                         {"flex_attention_eager", flex_attention_eager, true},
                         {"onnxruntime", onnxruntime, false},
                         {"triton_tutorial", triton_tutorial, false},
                         {"pytorch_math_16_bits", pytorch_math_16_bits, false}};

Stored stored_in(Format format) {
  if (format == Format::bf16) return {PLUMBLINE_BF16, 0x1p-8};
  if (format == Format::fp16) return {PLUMBLINE_FP16, 0x1p-11};
  return {PLUMBLINE_FP32, 0};
}

}  // namespace

const std::vector<std::string>& named_contracts() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Named& named : all) list.emplace_back(named.name);
    return list;
  }();
  return names;
}

plumbline_contract contract_named(std::string_view name, Format format, const std::string& field) {
  std::string known;
  for (const Named& named : all) {
    if (named.name != name) {
      known += (known.empty() ? "" : ", ") + std::string(named.name);
      continue;
    }
    const bool sixteen_bits = format == Format::bf16 || format == Format::fp16;
    if (!sixteen_bits && !(named.in_fp32 && format == Format::fp32)) {
      throw BadInput(field, in_quotes(name) + " in " + std::string(cases::name(format)),
                     named.in_fp32 ? "fp32, bf16 or fp16" : "bf16 or fp16");
    }
    Contract contract = undeclared_contract();
    named.declare(contract, stored_in(format));
    return contract;
  }
  throw BadInput(field, in_quotes(name), "one of " + known);
}

}  // namespace plumbline::cases
