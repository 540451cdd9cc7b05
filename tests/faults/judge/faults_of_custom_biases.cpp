// SPDX-License-Identifier: Apache-2.0
// Faults of kernels that have a custom bias.
#include "tests/faults/judge/custom.hpp"
#include "tests/faults/judge/mutants.hpp"

namespace plumbline::bench {

std::span<const FaultInfo> faults_of_custom_biases() {
  using F = FaultKind;
  using P = Place;
  // Made at the first call: the biases are declared then.
  static const std::vector<FaultInfo> faults = [] {
    const auto log_distance = custom_bias(Formula::log_distance), bump = custom_bias(Formula::bump),
               of_tokens = custom_bias(Formula::of_tokens),
               saturating = custom_bias(Formula::saturating);
    return std::vector<FaultInfo>{
        {F::signed_distance,
         "custom_distance_signed",
         "ln(1 + (i - j) / reach) for abs(i - j)",
         P::bias,
         {},
         {log_distance}},
        {F::custom_of_head_0,
         "custom_of_head_0",
         "parameters of the first head",
         P::bias,
         {},
         {log_distance, bump, of_tokens, saturating}},
        {F::first_batch_bias,
         "custom_of_first_sequence",
         "parameters of the first sequence",
         P::bias,
         {},
         {bump, of_tokens, saturating}},
        {F::custom_decay_in_bf16,
         "custom_decay_in_bf16",
         "the decay rounded to bf16",
         P::bias,
         {},
         {bump}},
        {F::custom_distance_reversed,
         "custom_distance_reversed",
         "i - j for j - i",
         P::bias,
         {},
         {bump}},
        {F::query_side_missing,
         "custom_query_side_missing",
         "gradients without what a bias reads at the query's position",
         P::parameter,
         {},
         {of_tokens, saturating}},
        {F::key_side_missing,
         "custom_key_side_missing",
         "gradients without what a bias reads at the key's position",
         P::parameter,
         {},
         {of_tokens, saturating}},
        {F::parameter_last_batch,
         "custom_parameter_last_batch",
         "parameters' gradients of the last sequence alone",
         P::parameter,
         {},
         {log_distance, bump}},
    };
  }();
  return faults;
}

}  // namespace plumbline::bench
