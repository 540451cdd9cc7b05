// SPDX-License-Identifier: Apache-2.0
#include "reference/blocked/tier.hpp"
#include "reference/model/bert_grad.hpp"
#include "reference/scalars/double.hpp"
#include "tests/models/checkpoint/run_models.hpp"

namespace plumbline::checkpoint {
namespace {

using namespace reference;

template <class Tier, class Position>
void bert_gradients(const Job& job, const Position& position) {
  BertConfiguration<Position> c{.position = position};
  c.layers = job.size("layers");
  c.heads = job.size("heads");
  c.width = job.size("C");
  c.intermediate = job.size("F");
  c.vocabulary = job.size("V");
  c.positions = job.size("positions");
  c.embedding.kind = job.embedding();
  c.ssmax = job.is("ssmax");
  auto p = BertParameters<double, Position>::zero(c), grad = p;
  load(job.text("weights"), bert_naming(), p);
  const std::vector<int> ids = job.ids();
  const auto types = job.fields.at("token_types").get<std::vector<int>>();
  const auto state = bert_forward<Tier>(c, p, ids, types);
  const BertMlmState<double> head = bert_mlm<Tier>(c, p, state.hidden);
  const double loss = cross_entropy(head.logits, job.targets());
  const Matrix<double> by_logits = cross_entropy_grad(head.logits, job.targets(), 1.0);
  bert_grad<Tier>(c, p, ids, types, state,
                  bert_mlm_grad<Tier>(c, p, state.hidden, head, by_logits, grad), grad);
  job.write(bert_naming(), grad, head.logits, loss);
}

}  // namespace

void run_bert(const Job& job) {
  const std::string position = job.text("position");
  if (job.text("tier") == "blocked") return bert_gradients<Blocked>(job, NopePosition());
  if (position == "t5_bidirectional")
    return bert_gradients<Equations<double>>(job, t5_position(true));
  if (position == "nope") return bert_gradients<Equations<double>>(job, NopePosition());
  if (position == "alibi") return bert_gradients<Equations<double>>(job, AlibiPosition());
  if (position == "cable") return bert_gradients<Equations<double>>(job, CablePosition());
  if (position == "k_cable") return bert_gradients<Equations<double>>(job, KCablePosition());
  throw std::invalid_argument("position is " + position);
}

}  // namespace plumbline::checkpoint
