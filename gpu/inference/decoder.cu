// SPDX-License-Identifier: Apache-2.0
#include "inference/decoder.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "inference/cached_model.cuh"
#include "support/error.hpp"

namespace plumbline::gpu {

namespace {

void expect(bool holds, const std::string& field, long value, const std::string& expected) {
  if (!holds) throw BadInput(field, std::to_string(value), expected);
}

void check(const ModelConfiguration& c, const DecoderRun& run) {
  validate(c);
  if (c.architecture == Architecture::bert)
    throw BadInput("architecture", "bert",
                   "gpt2 or llama_style: BERT's tokens see those after them, so that none can be "
                   "continued");
  expect(run.batch >= 1, "batch", run.batch, "at least 1");
  expect(run.capacity >= 1 && run.capacity < 1 << 30, "capacity", run.capacity,
         "from 1 to 2^30 - 1");
  if (position_method(c.position).embedded == EmbeddedPositions::learnable)
    expect(
        run.capacity <= c.context, "capacity", run.capacity,
        "at most " + std::to_string(c.context) + ", where the table of learnable positions ends");
}

template <class Element>
std::unique_ptr<CachedModelBase> made(const Stream& stream, const ModelConfiguration& c,
                                      const DecoderRun& run, const std::vector<float>& parameters) {
  return std::make_unique<CachedModel<Element>>(stream, c, run, parameters);
}

std::unique_ptr<CachedModelBase> make(const Stream& stream, const ModelConfiguration& c,
                                      const DecoderRun& run, const std::vector<float>& parameters) {
  switch (c.format) {
    case Format::bf16:
      return made<bfloat16>(stream, c, run, parameters);
    case Format::fp16:
      return made<float16>(stream, c, run, parameters);
    default:
      return made<float>(stream, c, run, parameters);
  }
}

}  // namespace

struct Decoder::Parts {
  Parts(const ModelConfiguration& c, const DecoderRun& wanted, const std::vector<float>& parameters)
      : configuration((check(c, wanted), c)),
        run(wanted),
        model(make(stream, configuration, run, parameters)),
        lengths(run.batch, 0),
        logits(static_cast<std::size_t>(run.batch) * c.vocabulary, 0.0f) {}

  void check_sequence(int sequence) const {
    expect(sequence >= 0 && sequence < run.batch, "sequence", sequence,
           "from 0 to " + std::to_string(run.batch - 1));
  }

  void check_tokens(const std::vector<std::vector<int>>& tokens) const {
    expect(static_cast<int>(tokens.size()) == run.batch, "sequences",
           static_cast<long>(tokens.size()), std::to_string(run.batch));
    for (int b = 0; b < run.batch; ++b) {
      const std::string of = " of sequence " + std::to_string(b);
      const auto left = static_cast<std::size_t>(run.capacity - lengths[b]);
      expect(
          tokens[b].size() <= left, "tokens" + of, static_cast<long>(tokens[b].size()),
          "at most " + std::to_string(left) + ": the capacity is " + std::to_string(run.capacity));
      for (const int token : tokens[b])
        expect(token >= 0 && token < configuration.vocabulary, "token" + of, token,
               "from 0 to " + std::to_string(configuration.vocabulary - 1));
    }
  }

  Stream stream;
  ModelConfiguration configuration;
  DecoderRun run;
  std::unique_ptr<CachedModelBase> model;
  std::vector<int> lengths;
  std::vector<float> logits;  ///< [batch, vocabulary]
};

Decoder::Decoder(const ModelConfiguration& configuration, const DecoderRun& run,
                 const std::vector<float>& parameters)
    : parts_(std::make_unique<Parts>(configuration, run, parameters)) {}

Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

const ModelConfiguration& Decoder::configuration() const { return parts_->configuration; }
int Decoder::batch() const { return parts_->run.batch; }
int Decoder::capacity() const { return parts_->run.capacity; }

int Decoder::length(int sequence) const {
  parts_->check_sequence(sequence);
  return parts_->lengths[sequence];
}

std::size_t Decoder::graph_nodes(int sequence) const {
  parts_->check_sequence(sequence);
  return parts_->model->graph_nodes(sequence);
}

const std::vector<float>& Decoder::append(const std::vector<std::vector<int>>& tokens) {
  Parts& p = *parts_;
  p.check_tokens(tokens);
  std::vector<int> taken(p.run.batch, 0);
  while (true) {
    std::vector<NewTokens> round;
    for (int b = 0; b < p.run.batch; ++b) {
      const int left = static_cast<int>(tokens[b].size()) - taken[b];
      const int count = std::min(left, p.model->most_at_once());
      if (count == 0) continue;
      round.push_back({.sequence = b,
                       .before = p.lengths[b],
                       .ids = {tokens[b].data() + taken[b], static_cast<std::size_t>(count)},
                       .logits = count == left ? p.logits.data() + static_cast<std::size_t>(b) *
                                                                       p.configuration.vocabulary
                                               : nullptr});
      taken[b] += count;
    }
    if (round.empty()) return p.logits;
    if (p.run.deterministic) {
      for (const NewTokens& alone : round) p.model->forward({&alone, 1});
    } else {
      p.model->forward(round);
    }
    for (const NewTokens& done : round)
      p.lengths[done.sequence] += static_cast<int>(done.ids.size());
  }
}

void Decoder::truncate(int sequence, int length) {
  parts_->check_sequence(sequence);
  int& now = parts_->lengths[sequence];
  expect(length >= 0 && length <= now, "length", length, "from 0 to " + std::to_string(now));
  now = length;
}

void Decoder::copy(int from, int to) {
  Parts& p = *parts_;
  p.check_sequence(from);
  p.check_sequence(to);
  if (from == to) return;
  p.model->copy(from, to);
  p.lengths[to] = p.lengths[from];
  const std::size_t vocabulary = p.configuration.vocabulary;
  std::copy_n(p.logits.begin() + static_cast<long>(from * vocabulary), vocabulary,
              p.logits.begin() + static_cast<long>(to * vocabulary));
}

}  // namespace plumbline::gpu
