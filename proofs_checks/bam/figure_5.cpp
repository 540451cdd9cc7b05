// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

enum class Drawing { printed, corrected, mutant };

/// What Figure 5 adds to the logits, less b_ij = -|(x - mu)/alpha|^beta, x = j - i. Printed:
/// |x/alpha|^beta - mu. The mutant: -|x/alpha - mu|^beta.
template <Drawing drawing>
struct FigureIsBias {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &x = in.number("x"), &mu = in.number("mu");
    const R &alpha = in.number("alpha"), &beta = in.number("beta"), one(1.0);
    const auto size = [&](const R& y) { return reference::power(reference::absolute(y), beta); };
    const R figure = drawing == Drawing::printed     ? size(x / alpha) - mu
                     : drawing == Drawing::corrected ? -size(one / alpha * (x - mu))
                                                     : -size(x / alpha - mu);
    return {figure + size((x - mu) / alpha)};
  }
};

std::vector<Sample> entries() {
  std::vector<Sample> samples;
  for (double mu : {0.0, 0.5, -2.5}) {
    for (double alpha : {1.0, 4.0}) {
      for (double beta : {1.0, 0.5, -1.0}) {
        for (double x : {-1.0, -4.0, 3.0}) {
          samples.push_back(
              Sample{}.with("x", {x}).with("mu", {mu}).with("alpha", {alpha}).with("beta", {beta}));
        }
      }
    }
  }
  return samples;
}

}  // namespace

Claim figure_5() {
  Claim claim;
  claim.id = "bam/figure_5";
  claim.title = "Figure 5 shows the matrix B that is added to the scores";
  claim.source = source("Appendix A, Figure 5, against section 2.3");
  claim.statement =
      "The score is QK^T + M + B with B drawn as |(1/alpha) (j - i)|^beta - mu, which is b_ij = "
      "-|(j - i - mu)/alpha|^beta.";
  claim.hypotheses = {
      "The matrix under B holds j - i; the figure joins the three terms by plus signs."};
  claim.implicit = {
      "The figure is known from extracted text only, in which mu stands after the exponent. The "
      "missing minus sign does not depend on where mu belongs: it shows at mu = 0."};
  claim.correction = "B = -|(1/alpha) ((j - i) - mu)|^beta.";
  claim.derivation =
      "mu = 0, alpha = 1, beta = 1, j - i = -1: the figure adds 1, section 2.3 adds -1. As drawn B "
      "rewards distance for beta > 0. mu outside the power is a constant and cancels in the "
      "softmax.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "|x/alpha|^beta - mu + |(x - mu)/alpha|^beta = 0",
                 FigureIsBias<Drawing::printed>{}, entries()),
         for_all(Role::correction, "-|(1/alpha)(x - mu)|^beta + |(x - mu)/alpha|^beta = 0",
                 FigureIsBias<Drawing::corrected>{}, entries())});
  };
  claim.pictures = {pictures::figure_5_bias};
  claim.mutant = "B = -|(1/alpha)(j - i) - mu|^beta.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "-|x/alpha - mu|^beta + |(x - mu)/alpha|^beta = 0",
                   FigureIsBias<Drawing::mutant>{}, entries());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
