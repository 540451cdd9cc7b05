// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace plumbline::bench {
namespace {
using cases::Format;
using cases::Pass;

/// Biases that faults of no bias of their own are tried with, in turn.
constexpr std::array<cases::Bias, 17> in_turn{
    PLUMBLINE_ALIBI,
    PLUMBLINE_CABLE,
    PLUMBLINE_NOPE,
    PLUMBLINE_KERPLE_LOG,
    PLUMBLINE_T5,
    PLUMBLINE_FOX,
    PLUMBLINE_GGD,
    PLUMBLINE_K_CABLE,
    cases::Bias(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_HALF_SPLIT),
    PLUMBLINE_FIRE,
    PLUMBLINE_CABLE_NW,
    PLUMBLINE_T5_BIDIRECTIONAL,
    PLUMBLINE_T5_CLIPPED,
    PLUMBLINE_COPE,
    cases::Bias(PLUMBLINE_KERPLE_LOG, 2),
    PLUMBLINE_BIAS_TENSOR,
    cases::Bias(PLUMBLINE_ALIBI, 1)};
constexpr std::array ropes{cases::Bias(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_INTERLEAVED),
                           cases::Bias(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_HALF_SPLIT)};
/// Attention stays diffuse with these.
constexpr std::array<cases::Bias, 2> flat{PLUMBLINE_NOPE, PLUMBLINE_T5};

/// Formats in which the fault is one.
std::vector<Format> formats_of(const FaultInfo& info) {
  const std::string_view names = info.formats;
  std::vector<Format> formats;
  for (const Format format :
       {Format::fp32, Format::bf16, Format::fp16, Format::tf32, Format::e4m3, Format::e5m2}) {
    if (names.empty() || names.find(cases::name(format)) != std::string_view::npos) {
      formats.push_back(format);
    }
  }
  return formats;
}

/// Faults that are about one bias, feature or field of the contract, not about long rows.
bool says_something_of_long_rows(const FaultInfo& info) {
  if (info.feature != Feature::none || info.declared != Declared::nothing) return false;
  return info.place == Place::anywhere || info.place == Place::split ||
         info.place == Place::backward;
}

}  // namespace

std::vector<FaultInfo> all_faults() {
  std::vector<FaultInfo> faults;
  for (const auto& part :
       {faults_of_scores_and_biases(), faults_of_score_methods(), faults_of_masks_and_softmax(),
        faults_of_gradients(), faults_of_features(), faults_of_custom_biases()}) {
    faults.insert(faults.end(), part.begin(), part.end());
  }
  return faults;
}

std::string Mutant::name() const {
  return info->amounts.empty() ? info->name : fmt::format("{} {}", info->name, fault.amount);
}

std::string Mutant::cell() const {
  return fmt::format("{} {} {}{}", cases::name(pass), cases::name(bias), cases::name(format),
                     diffuse ? " diffuse" : "");
}

std::vector<Mutant> all_mutants(const std::vector<FaultInfo>& faults) {
  std::vector<Mutant> mutants;
  // Seventeen biases in turn, which no number of formats divides: in time each meets each.
  std::size_t bias_turn = 0, format_turn = 0, flat_turn = 0;
  const auto next_bias = [&](const FaultInfo& info) {
    for (;;) {
      const auto bias = in_turn[bias_turn++ % in_turn.size()];
      if (info.feature == Feature::none || !cases::needs_scores(bias)) return bias;
    }
  };
  const auto next_of = [&](const std::vector<Format>& formats) {
    return formats[format_turn++ % formats.size()];
  };
  for (const FaultInfo& info : faults) {
    const auto formats = formats_of(info);
    const auto add = [&](double amount, Pass pass, cases::Bias bias, Format format, bool diffuse) {
      Variant variant = plain_variant(static_cast<int>(format));
      if (info.place == Place::split) variant.splits = 3;
      variant.lse_base_2 = info.declared == Declared::lse_base_2;
      if (info.declared == Declared::floats) {
        variant.float_o = variant.float_gradients = true;
        variant.p_format = PLUMBLINE_FP32;
      }
      mutants.push_back({&info, {info.kind, amount}, pass, bias, format, variant, diffuse});
    };
    for (const double amount : info.amounts.empty() ? std::vector<double>{0} : info.amounts) {
      switch (info.place) {
        case Place::anywhere:
        case Place::split:
        case Place::ssmax:
          for (int n = 0; n < std::min(2, static_cast<int>(formats.size())); ++n) {
            add(amount, Pass::forward, next_bias(info), next_of(formats), false);
          }
          add(amount, Pass::decode, next_bias(info), next_of(formats), false);
          break;
        case Place::cache:
          for (const Format format : formats) {
            add(amount, Pass::decode, next_bias(info), format, false);
          }
          break;
        case Place::rope:
          for (const auto bias : ropes) {
            add(amount, Pass::forward, bias, next_of(formats), false);
            add(amount, Pass::decode, bias, next_of(formats), false);
          }
          break;
        case Place::bias:
          for (const auto bias : info.biases) {
            add(amount, Pass::forward, bias, next_of(formats), false);
          }
          break;
        case Place::backward:
          for (std::size_t n = 0; n < std::min<std::size_t>(2, formats.size()); ++n) {
            add(amount, Pass::backward, next_bias(info), next_of(formats), false);
          }
          break;
        case Place::parameter:
          for (const auto bias : info.biases) {
            add(amount, Pass::backward, bias, next_of(formats), false);
          }
          break;
      }
      if (!says_something_of_long_rows(info)) continue;
      const bool back = info.place == Place::backward;
      Format format = flat_turn % 3 == 0 ? Format::fp32 : Format::bf16;
      if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
        format = formats.front();
      }
      add(amount, back ? Pass::backward : Pass::forward, flat[flat_turn++ % flat.size()], format,
          true);
    }
  }
  return mutants;
}

}  // namespace plumbline::bench
