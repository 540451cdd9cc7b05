// SPDX-License-Identifier: Apache-2.0
// One training step of GPT-2 and BERT in bf16 and tf32, with fp32 master weights, against the
// oracle: docs/bounds-model.md.
#include <bit>

#include "reference/position/context_position.hpp"
#include "reference/position/learned_position.hpp"
#include "reference/position/rotary_position.hpp"
#include "tests/gpu_vs_reference/model/bert_step.hpp"
#include "tests/gpu_vs_reference/model/cast_check.hpp"
#include "tests/gpu_vs_reference/model/gpt2_step.hpp"
#include "train/trainer.hpp"

BOOST_AUTO_TEST_SUITE(formats_test)

using namespace plumbline;
using namespace plumbline::gpu_tests;
using namespace plumbline::reference;
using plumbline::gpu::Format;

namespace {

gpu::ModelConfiguration gpt2_of(const char* position, bool ssmax, int layers = 2) {
  gpu::ModelConfiguration c = small_gpt2(position);
  c.ssmax = ssmax;
  c.layers = layers;
  return c;
}

/// In both formats.
template <class Position>
void check_formats(gpu::ModelConfiguration c, const StepBatch& batch, Position position) {
  const CastStep step(c, batch, cast_position(std::move(position)));
  for (const Format format : {Format::bf16, Format::tf32}) {
    c.format = format;
    check_cast_step(c, step_on_device(c, batch), cast_oracle(step, format));
  }
}

/// The step without casts is what the bounds' draws disturb: it must be the oracle's.
template <class Position>
void check_without_casts(const gpu::ModelConfiguration& c, const StepBatch& batch,
                         Position position, const OracleStep& oracle) {
  const CastStepResult own =
      CastStep(c, batch, cast_position(std::move(position))).run(Casts(Format::fp32));
  BOOST_TEST(std::fabs(own.loss - oracle.loss) <= 1e-12);
  double most = 0, squares = 0;
  for (const StepTensor& tensor : oracle.tensors) {
    for (std::size_t n = 0; n < tensor.elements.size(); ++n) {
      const double expected = tensor.elements[n].gradient;
      most = std::max(most, std::fabs(own.gradients.at(tensor.name).data()[n] - expected));
      squares += expected * expected;
    }
  }
  BOOST_TEST(most <= 1e-13 * std::sqrt(squares), c.position);
}

std::vector<float> test_values(const gpu::ParameterLayout& layout) {
  std::vector<float> values(layout.size());
  for (const gpu::Parameter& p : layout.all())
    set_test_values(p, std::span(values).subspan(p.offset, p.size()));
  return values;
}

/// Whether products alone read it.
bool of_a_linear_layer(const gpu::Parameter& p) {
  return p.name.find(".attn.c_") != std::string::npos || p.name.find(".mlp.") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_casts_the_step_is_the_oracles) {
  const PositionEmbedding none{.kind = EmbeddedPositions::none},
      learnable{.kind = EmbeddedPositions::learnable};
  const StepBatch causal = causal_batch(true), masked = masked_batch({7, 4});
  const auto cable = gpt2_of("cable", true, 1), rope = gpt2_of("rope_half_split", false, 1);
  RopePosition halves;
  halves.pairs = RopePairs::half_split;
  check_without_casts(cable, causal, CablePosition(),
                      gpt2_oracle(cable, causal, functions_of(CablePosition()), none));
  check_without_casts(rope, causal, halves, gpt2_oracle(rope, causal, functions_of(halves), none));
  const auto bert = small_bert("learnable", 1);
  check_without_casts(bert, masked, NopePosition(),
                      bert_oracle(bert, masked, functions_of(NopePosition()), learnable));
}

BOOST_AUTO_TEST_CASE(gpt2_in_bf16_and_tf32) {
  RopePosition halves;
  halves.pairs = RopePairs::half_split;
  check_formats(gpt2_of("cable", false), causal_batch(true), CablePosition());
  check_formats(gpt2_of("alibi", true), causal_batch(false), AlibiPosition());
  check_formats(gpt2_of("ggd", true), causal_batch(false), GgdPosition());
  check_formats(gpt2_of("rope_half_split", true), causal_batch(false), halves);
}

// Of these sizes there are kernels for Hopper, where the device has wgmma.
BOOST_AUTO_TEST_CASE(heads_of_64_in_bf16_and_tf32) {
  const auto wide = [](gpu::ModelConfiguration c) {
    c.heads = c.kv_heads = 2;
    c.width = 128;
    return c;
  };
  RopePosition halves;
  halves.pairs = RopePairs::half_split;
  check_formats(wide(gpt2_of("cable", false)), causal_batch(true), CablePosition());
  check_formats(wide(gpt2_of("alibi", true, 1)), causal_batch(false), AlibiPosition());
  check_formats(wide(gpt2_of("rope_half_split", false, 1)), causal_batch(false), halves);
}

BOOST_AUTO_TEST_CASE(bert_in_bf16_and_tf32) {
  auto cable = small_bert("cable", 2);
  cable.ssmax = true;
  check_formats(small_bert("learnable", 2), masked_batch({7, 4}), NopePosition());
  check_formats(cable, masked_batch({7, 4}), CablePosition());
}

// More tokens have less noise in common: of 16 sequences more is seen.
BOOST_AUTO_TEST_CASE(small_faults_are_seen) {
  auto c = gpt2_of("alibi", false);
  const StepBatch batch = causal_batch(false, 16);
  const CastStep step(c, batch, cast_position(AlibiPosition()));
  for (const Format format : {Format::bf16, Format::tf32}) {
    const CastOracle oracle = cast_oracle(step, format);
    c.format = format;
    const StepResult device = step_on_device(c, batch);
    check_cast_step(c, device, oracle);

    const auto seen = [&](const char* what, const StepResult& faulty) {
      const CastFaults faults = cast_faults(faulty, oracle);
      std::printf("%s: %d gradients, %d norms, %d factors beyond their bounds\n", what,
                  faults.elements, faults.norms, faults.factors);
      return faults;
    };
    const float by = format == Format::bf16 ? 0.03f : 0.005f;
    const CastFaults branch =
        seen("a branch off by 0.03, in tf32 by 0.005",
             step_on_device(c, batch, [by](const gpu::Parameter& p, std::span<float> values) {
               if (p.name.find("h.1.mlp.c_proj.") == std::string::npos) return;
               for (float& value : values) value *= 1 + by;
             }));
    BOOST_TEST(branch.elements >= 100);
    BOOST_TEST(branch.factors >= 2);

    const CastFaults stale =
        seen("weights of the update before",
             step_on_device(c, batch, [](const gpu::Parameter& p, std::span<float> values) {
               if (!of_a_linear_layer(p)) return;
               const Draw draw(9, p.offset);
               for (std::size_t n = 0; n < values.size(); ++n)
                 values[n] += static_cast<float>(draw.word(n) % 2 == 0 ? kRate : -kRate);
             }));
    BOOST_TEST(stale.elements >= 50);
    BOOST_TEST(stale.norms >= 1);

    const CastFaults cut =
        seen("weights cut off instead of rounded",
             step_on_device(c, batch, [&](const gpu::Parameter& p, std::span<float> values) {
               if (!of_a_linear_layer(p)) return;
               const std::uint32_t kept = format == Format::bf16 ? 0xffff0000u : 0xffffe000u;
               for (float& value : values)
                 value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & kept);
             }));
    BOOST_TEST(cut.elements >= 1);

    StepResult dropped = device;
    dropped.gradients.at("transformer.h.1.mlp.c_proj.bias")[0] = 0;
    BOOST_TEST(seen("a gradient of a bias dropped", dropped).elements == 1);
  }
}

// Products see the master weights rounded to bf16 and nothing else of them.
BOOST_AUTO_TEST_CASE(the_copies_are_the_master_weights_rounded) {
  auto c = gpt2_of("alibi", false, 1);
  c.format = Format::bf16;
  const StepBatch batch = causal_batch(false);
  const Casts casts(Format::bf16);
  const auto rounded = [&](float next) {
    return step_on_device(c, batch, [&](const gpu::Parameter& p, std::span<float> values) {
      if (!of_a_linear_layer(p)) return;
      for (float& value : values) value = static_cast<float>(casts.weight(double{value}));
      if (p.name == "transformer.h.0.mlp.c_fc.weight")
        for (float& value : values) value *= next;
    });
  };
  const StepResult device = step_on_device(c, batch), same = rounded(1),
                   other = rounded(1 + 0x1p-7f);
  BOOST_TEST(same.loss == device.loss);
  BOOST_TEST((same.gradients == device.gradients));
  BOOST_TEST(other.loss != device.loss);
}

// After an update the copies are those of the new master weights.
BOOST_AUTO_TEST_CASE(an_update_refreshes_the_copies) {
  auto c = gpt2_of("alibi", false, 1);
  c.format = Format::bf16;
  const StepBatch batch = causal_batch(false);
  const gpu::ModelRun run{.batch = batch.batch, .length = batch.length};
  gpu::Trainer trainer(c, run, kOptimizer), fresh(c, run, kOptimizer);
  trainer.set_parameters(test_values(trainer.layout()));
  trainer.begin(1);
  trainer.add(batch.view(), batch.counted());
  const double before = trainer.loss(batch.view()).sum;
  trainer.update(0, kRate);
  fresh.set_parameters(trainer.parameters());
  const double after = trainer.loss(batch.view()).sum;
  BOOST_TEST(after == fresh.loss(batch.view()).sum);
  BOOST_TEST(after < before);
}

BOOST_AUTO_TEST_SUITE_END()
