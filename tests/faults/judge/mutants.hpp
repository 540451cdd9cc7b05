// SPDX-License-Identifier: Apache-2.0
// The list of faults, and the mutants that are made of them: a fault in a kernel of one pass, bias
// and format.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/faults/judge/fault.hpp"
#include "tests/faults/judge/features.hpp"
#include "tests/faults/judge/variant.hpp"
#include "verdict/cases/spec.hpp"

namespace plumbline::bench {

/// Where a fault may be.
enum class Place {
  anywhere,   ///< forward and decoding, any bias
  bias,       ///< the biases that are named
  split,      ///< kernels that merge ranges of keys
  cache,      ///< decoding alone: pages, and 8 bits with scales
  backward,   ///< the backward pass alone, any bias
  parameter,  ///< gradients of the biases that are named
  rope,
  ssmax
};

/// What the contract of the kernel that has the fault declares beside the plain one's.
enum class Declared {
  nothing,
  lse_base_2,
  floats  ///< o and the gradients in fp32, of a P that is not rounded
};

struct FaultInfo {
  FaultKind kind;
  const char* name;
  const char* what;  ///< half a sentence for the table
  Place place;
  std::vector<double> amounts;        ///< empty: the fault has no size
  std::vector<cases::Bias> biases{};  ///< of Place::bias and Place::parameter
  const char* formats = "";           ///< those where it is a fault; all where empty
  const char* harmless = "";          ///< why results may be right in spite of it, if so
  Feature feature = Feature::none;    ///< of the cases that it is tried in
  Declared declared = Declared::nothing;
};

/// Biases that are sums over the tokens before.
inline const std::vector<cases::Bias> of_prefix{
    PLUMBLINE_CABLE, PLUMBLINE_CABLE_NW, PLUMBLINE_K_CABLE, PLUMBLINE_K_CABLE_NW, PLUMBLINE_FOX};

std::span<const FaultInfo> faults_of_scores_and_biases();
std::span<const FaultInfo> faults_of_masks_and_softmax();
std::span<const FaultInfo> faults_of_gradients();
std::span<const FaultInfo> faults_of_score_methods();
std::span<const FaultInfo> faults_of_features();
std::span<const FaultInfo> faults_of_custom_biases();
std::vector<FaultInfo> all_faults();

struct Mutant {
  const FaultInfo* info;
  Fault fault;
  cases::Pass pass;
  cases::Bias bias;
  cases::Format format;
  Variant variant;
  bool diffuse = false;  ///< judged on diffuse attention over more than 8192 keys

  std::string name() const;  ///< "scale_off 0.001"
  std::string cell() const;  ///< "forward alibi bf16"
};

/// All of them; the same list every time. @param faults must outlive it.
std::vector<Mutant> all_mutants(const std::vector<FaultInfo>& faults);

}  // namespace plumbline::bench
