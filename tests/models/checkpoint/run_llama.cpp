// SPDX-License-Identifier: Apache-2.0
#include "reference/model/llama_style_grad.hpp"
#include "reference/scalars/double.hpp"
#include "tests/models/checkpoint/run_models.hpp"

namespace plumbline::checkpoint {
namespace {

using namespace reference;
using Tier = Equations<double>;

template <class Position>
void llama_gradients(const Job& job, const Position& position) {
  LlamaStyleConfiguration<Position> c{.position = position};
  c.layers = job.size("layers");
  c.heads = c.kv_heads = job.size("heads");
  c.width = job.size("C");
  c.hidden = job.size("F");
  c.vocabulary = job.size("V");
  c.embedding.kind = job.embedding();
  c.ssmax = job.is("ssmax");
  auto p = LlamaStyleParameters<double, Position>::zero(c), grad = p;
  load(job.text("weights"), llama_naming(), p);
  const std::vector<int> ids = job.ids();
  const auto state = llama_style_forward<Tier>(c, p, ids);
  const Matrix<double> logits = llama_style_logits<Tier>(p, state.hidden);
  const double loss = cross_entropy(logits, job.targets());
  const Matrix<double> by_logits = cross_entropy_grad(logits, job.targets(), 1.0);
  llama_style_grad<Tier>(c, p, ids, state,
                         llama_style_logits_grad<Tier>(p, state.hidden, by_logits, grad), grad);
  job.write(llama_naming(), grad, logits, loss);
}

}  // namespace

void run_llama(const Job& job) {
  const std::string position = job.text("position");
  if (position == "nope") return llama_gradients(job, NopePosition());
  if (position == "ggd") return llama_gradients(job, GgdPosition());
  if (position == "rope") return llama_gradients(job, RopePosition());
  throw std::invalid_argument("position is " + position);
}

}  // namespace plumbline::checkpoint
