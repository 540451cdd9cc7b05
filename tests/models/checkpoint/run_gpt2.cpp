// SPDX-License-Identifier: Apache-2.0
#include "reference/blocked/tier.hpp"
#include "reference/model/gpt2_grad.hpp"
#include "reference/scalars/double.hpp"
#include "tests/models/checkpoint/run_models.hpp"

namespace plumbline::checkpoint {
namespace {

using namespace reference;

template <class Tier, class Position>
void gpt2_gradients(const Job& job, const Position& position) {
  auto c = gpt2(job.size("layers"), job.size("heads"), job.size("C"), position);
  c.vocabulary = job.size("V");
  c.positions = job.size("positions");
  c.embedding.kind = job.embedding();
  c.ssmax = job.is("ssmax");
  auto p = Gpt2Parameters<double, Position>::zero(c), grad = p;
  load(job.text("weights"), gpt2_naming(), p);
  const std::vector<int> ids = job.ids();
  const auto state = gpt2_forward<Tier>(c, p, ids);
  const Matrix<double> logits = gpt2_logits<Tier>(p, state.hidden);
  const double loss = cross_entropy(logits, job.targets());
  const Matrix<double> by_logits = cross_entropy_grad(logits, job.targets(), 1.0);
  gpt2_grad<Tier>(c, p, ids, state, gpt2_logits_grad<Tier>(p, state.hidden, by_logits, grad), grad);
  job.write(gpt2_naming(), grad, logits, loss);
}

}  // namespace

void run_gpt2(const Job& job) {
  // At real size GPT-2 itself, on the tier for it; every method at small size, by its equations.
  if (job.text("tier") == "blocked") return gpt2_gradients<Blocked>(job, NopePosition());
  with_position(job.text("position"),
                [&](const auto& position) { gpt2_gradients<Equations<double>>(job, position); });
}

}  // namespace plumbline::checkpoint
