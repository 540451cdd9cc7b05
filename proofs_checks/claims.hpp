// SPDX-License-Identifier: Apache-2.0
// What a file of claims is written with. The file paper/name.cpp defines
//   void claims_of_name(Claims& claims)
// in the paper's namespace, which adds its claims; CMakeLists.txt lists the files.
#pragma once

#include "proofs_checks/samples.hpp"
#include "proofs_checks/statement.hpp"
#include "proofs_checks/tables.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::proofs_checks {

/// All claims: claims["paper/name"] = Claim({.title = ...}) adds one.
struct Claims {
  struct Place {
    std::vector<Claim>& all;
    std::string id;
    void operator=(Claim claim) {
      claim.id = id;
      all.push_back(std::move(claim));
    }
  };
  std::vector<Claim> all;
  Place operator[](const std::string& id) { return {all, id}; }
};

/// What a derivation proves.
inline Proof holds(const std::string& derivation) { return {derivation, Verdict::holds}; }
inline Proof refuted(const std::string& derivation) { return {derivation, Verdict::refuted}; }
inline Proof holds_under_condition(const std::string& derivation) {
  return {derivation, Verdict::holds_under_condition};
}

// The functions that formulas are made of. They hide those of <cmath>.
using reference::absolute;
using reference::cos;
using reference::dot;
using reference::erf;
using reference::exp;
using reference::log;
using reference::log1p;
using reference::logistic;
using reference::maximum;
using reference::power;
using reference::relu;
using reference::sin;
using reference::softmax;
using reference::softplus;
using reference::sqrt;
using reference::step;
using reference::sum;
using reference::Vector;
using reference::zeros;

/// softmax of the logits f(0), ..., f(n - 1).
template <class R, class F>
Vector<R> softmax_of(int n, const F& f) {
  Vector<R> logits(n);
  for (int k = 0; k < n; ++k) logits[k] = f(k);
  return softmax(logits).probability;
}

}  // namespace plumbline::proofs_checks
