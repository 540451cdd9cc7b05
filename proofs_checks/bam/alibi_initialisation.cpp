// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/head_counts.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/ggd.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

enum class Start { per_layer, per_head, mutant };

/// For every head of a layer with H heads and equal contents of 8 keys: the weights with
/// theta_beta = 1, theta_mu = 0 and theta_alpha = ln m less those under ALiBi with the head's
/// slope; m is the slope of the first head (per layer), of the head, or its inverse (mutant).
template <Start start>
struct StartIsAlibi {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const std::vector<R> slopes = reference::alibi_slopes<R>(integer(in, "H"));
    std::vector<Placed<R>> residuals;
    int h = 0;
    for (const R& slope : slopes) {
      ++h;
      const R theta = reference::log(start == Start::per_layer ? slopes[0] : slope);
      const reference::Ggd<R> ggd(start == Start::mutant ? -theta : theta, R(1.0), R(0.0), R(1e-5));
      const reference::Alibi<R> alibi{slope};
      const auto weights = [](const auto& bias) {
        reference::Vector<R> logits(8);
        for (int j = 0; j < 8; ++j) logits[j] = bias(7, j);
        return reference::softmax(logits).probability;
      };
      const auto ours = weights(ggd), theirs = weights(alibi);
      for (int j = 0; j < 8; ++j)
        residuals.push_back({ours[j] - theirs[j], "h = " + std::to_string(h) + ", j = " +
                                                      std::to_string(j) + " of 0..7, i = 7"});
    }
    return residuals;
  }
};

/// As per_head, with other parameters.
struct OtherStartIsAlibi {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    std::vector<Placed<R>> residuals;
    int h = 0;
    for (const R& slope : reference::alibi_slopes<R>(integer(in, "H"))) {
      ++h;
      const reference::Ggd<R> ggd(reference::log(slope), in.number("theta_beta"),
                                  in.number("theta_mu"), in.number("epsilon"));
      const reference::Alibi<R> alibi{slope};
      reference::Vector<R> ours(8), theirs(8);
      for (int j = 0; j < 8; ++j) {
        ours[j] = ggd(7, j);
        theirs[j] = alibi(7, j);
      }
      const auto p = reference::softmax(ours).probability,
                 q = reference::softmax(theirs).probability;
      for (int j = 0; j < 8; ++j)
        residuals.push_back(
            {p[j] - q[j], "h = " + std::to_string(h) + ", j = " + std::to_string(j)});
    }
    return residuals;
  }
};

}  // namespace

Claim alibi_initialisation() {
  Claim claim;
  claim.id = "bam/alibi_initialisation";
  claim.title = "The first initialisation replicates ALiBi";
  claim.source = source("Appendix H.1, first initialization");
  claim.statement =
      "\"A Laplacian that replicates ALiBi, setting theta_beta = 1, different theta_alpha for each "
      "layer and theta_mu = 0\": the weights of every head are ALiBi's.";
  claim.condition = "theta_alpha = ln m_h differs from head to head, as ALiBi's slopes do.";
  claim.derivation =
      "With theta_beta = 1, b = -e^theta_alpha (d + epsilon): ALiBi with slope e^theta_alpha, and "
      "a "
      "constant that cancels in the softmax. ALiBi has the same slopes in every layer and H "
      "different ones within it, so one value per layer fits one head at most. (The published code "
      "takes the slopes by head.)";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(
             Role::statement,
             "theta_alpha = ln m_1 for all heads: p - p_ALiBi = 0 for 8 equal contents, e^(-m_1 (7 "
             "- j)) and e^(-m_h (7 - j)), each over its sum, m_h = 2^(-8 h/H) (H a power of two)",
             StartIsAlibi<Start::per_layer>{}, head_counts({16, 24, 32})),
         for_all(Role::condition, "theta_alpha = ln m_h: p - p_ALiBi = 0",
                 StartIsAlibi<Start::per_head>{}, head_counts({16, 24, 32}))});
  };
  claim.mutant = "theta_alpha = -ln m_h.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "theta_alpha = -ln m_h: p - p_ALiBi = 0",
                   StartIsAlibi<Start::mutant>{}, head_counts({16, 24, 32}));
  };
  const auto start = [](double theta_beta, double theta_mu, double epsilon, double heads) {
    return [=] {
      return for_all(Role::statement, "theta_alpha = ln m_h: p - p_ALiBi = 0", OtherStartIsAlibi{},
                     {Sample{}
                          .with("theta_beta", {theta_beta})
                          .with("theta_mu", {theta_mu})
                          .with("epsilon", {epsilon})
                          .with("H", {heads})});
    };
  };
  claim.hypotheses = {
      needed("theta_beta = 1.", "Another power is not linear.", start(0.5, 0, 0x1p-16, 16))
          .where("theta_beta", exactly(1)),
      needed("theta_mu = 0.",
             "A negative mu is a peak among the keys. (A positive one is a shift that cancels.)",
             start(1, -1, 0x1p-16, 16))
          .where("theta_mu", exactly(0)),
      not_needed("epsilon = 10^-5.", "m epsilon is the same for all keys and cancels.",
                 start(1, 0, 0.25, 16)),
      not_needed("H = 16, 24 or 32 heads per layer (Table 1).",
                 "The argument is one for each head.", start(1, 0, 0x1p-16, 12))};
  claim.implicit = {
      definition("Different for each layer means one value for all heads of a layer.",
                 "It says how the sentence is read; the condition is the other reading."),
      definition("ALiBi's slopes are those of its authors' code.", "It says what ALiBi is.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
