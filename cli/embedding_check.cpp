// SPDX-License-Identifier: Apache-2.0
#include "cli/embedding_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "golden/case_checks.hpp"
#include "reference/methods/methods.hpp"
#include "verdict/bounds/ops/embedding.hpp"
#include "verdict/cases/case.hpp"

namespace plumbline::cli {
namespace {

namespace methods = reference::methods;
using cases::Format;
using reference::RunningError;

constexpr int problems_of_a_format = 4;

op_bounds::Storage storage(Format format) {
  return format == Format::bf16   ? op_bounds::stored_bf16
         : format == Format::fp16 ? op_bounds::stored_fp16
                                  : op_bounds::stored_fp32;
}

/// Numbers from std::mt19937_64, whose output the standard fixes.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  int between(int least, int most) {
    return least + static_cast<int>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  /// In [-1, 1), as the format holds them.
  std::vector<float> numbers(std::size_t count, Format format) {
    std::vector<float> values(count);
    for (float& x : values)
      x = cases::stored(static_cast<float>(static_cast<double>(engine_() >> 11) * 0x1p-52 - 1.0),
                        format);
    return values;
  }
  /// 0 .. count - 1 in any order.
  std::vector<std::int32_t> shuffled(int count) {
    std::vector<std::int32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    for (int n = count - 1; n > 0; --n) std::swap(order[n], order[between(0, n)]);
    return order;
  }

 private:
  std::mt19937_64 engine_;
};

/// A batch of embeddings, the words' table that they lie in, and what the oracle makes of them.
struct Problem {
  methods::Problem setting;
  methods::Tensors<float> tensors;
  std::vector<std::int32_t> ids;
  std::vector<float> word;
  methods::Results<RunningError> expected;

  int tokens() const { return setting.shape.batch * setting.shape.queries; }
  int width() const { return setting.shape.head_dim; }
  const std::vector<RunningError>& of(const std::string& name) const {
    return expected.tensors.at(name).data;
  }
};

Problem problem_of(const std::string& method, cases::Pass pass, Format format, Draw& draw) {
  Problem p;
  auto& shape = p.setting.shape;
  shape.batch = draw.between(1, 3);
  shape.heads = shape.kv_heads = 1;
  shape.queries = pass == cases::Pass::decode ? 1 : draw.between(1, 40);
  shape.query_offset = draw.between(pass == cases::Pass::decode ? 1 : 0, 60);
  shape.keys = shape.query_offset + shape.queries + draw.between(0, 2);
  shape.head_dim = 2 * draw.between(1, 70);
  const auto& info = methods::method_of(method);
  for (const std::string& option : info.options) {
    p.setting.options[option] = option == "base" ? 10000 : draw.between(0, 1) ? 1.0 : 0.1;
  }
  for (const auto& [name, of_tensor] : info.inputs(p.setting, false)) {
    std::size_t size = 1;
    for (const int extent : of_tensor) size *= static_cast<std::size_t>(extent);
    const bool stored_short = name == "grad_embeddings";
    p.tensors[name] = {of_tensor, draw.numbers(size, stored_short ? format : Format::fp32)};
  }
  p.ids = draw.shuffled(p.tokens());
  const auto& x = p.tensors.at("x").data;
  p.word.resize(x.size());
  for (std::size_t n = 0; n < x.size(); ++n) {
    p.word[static_cast<std::size_t>(p.ids[n / p.width()]) * p.width() + n % p.width()] = x[n];
  }
  p.expected = methods::evaluate(method, p.setting, methods::lifted<RunningError>(p.tensors));
  return p;
}

plumbline_embedding arguments(const Problem& p, const std::string& method, Format format) {
  const auto& shape = p.setting.shape;
  plumbline_embedding e{};
  e.struct_size = sizeof e;
  e.batch = shape.batch;
  e.length = shape.queries;
  e.width = p.width();
  e.words = p.tokens();
  e.position_rows = shape.keys;
  e.position_offset = shape.query_offset;
  e.format = static_cast<std::int32_t>(format);
  e.ids = p.ids.data();
  e.word = p.word.data();
  if (method == "learnable") {
    e.positions = PLUMBLINE_LEARNABLE;
    e.position = p.tensors.at("table").data.data();
  } else {
    e.positions =
        method == "sinusoidal" ? PLUMBLINE_SINUSOIDAL : PLUMBLINE_SINUSOIDAL_OWN_FREQUENCY;
    e.base = p.setting.options.at("base");
    e.amplitude = p.setting.options.at("amplitude");
  }
  return e;
}

/// Numbers as the kernels have them in memory.
class Numbers {
 public:
  /// NaN in every format.
  Numbers(std::size_t count, Format format)
      : format_(format),
        floats_(is_short() ? 0 : count, std::nanf("")),
        halves_(is_short() ? count : 0, 0xffff) {}
  Numbers(const std::vector<float>& values, Format format) : Numbers(values.size(), format) {
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (!is_short())
        floats_[n] = values[n];
      else
        halves_[n] = format == Format::bf16 ? cases::to_bf16(values[n]) : cases::to_fp16(values[n]);
    }
  }
  void* data() { return is_short() ? static_cast<void*>(halves_.data()) : floats_.data(); }
  double at(std::size_t n) const {
    if (!is_short()) return floats_[n];
    return format_ == Format::bf16 ? cases::from_bf16(halves_[n]) : cases::from_fp16(halves_[n]);
  }

 private:
  bool is_short() const { return format_ == Format::bf16 || format_ == Format::fp16; }

  Format format_;
  std::vector<float> floats_;
  std::vector<std::uint16_t> halves_;
};

/// Adds the elements of an output to the result. A failure is kept once an output.
void compare(golden::FileResult& result, const std::string& name, const Numbers& got,
             const std::vector<RunningError>& expected, const std::vector<double>& limits) {
  bool good = true;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    const double error = std::fabs(got.at(n) - expected[n].value()) + expected[n].error();
    if (error > 0) result.worst = std::max(result.worst, error / limits[n]);
    if (good && !(error <= limits[n])) {
      good = false;
      golden::add_failure(result, fmt::format("{}[{}] is {}, not {} +- {}", name, n, got.at(n),
                                              expected[n].value(), limits[n]));
    }
  }
  result.numbers += expected.size();
}

void check_forward(golden::FileResult& result, const EmbeddingKernels& kernels, const Problem& p,
                   const plumbline_embedding& e, Format format) {
  Numbers x(p.word.size(), format);
  char message[512] = "";
  if (kernels.forward(&e, x.data(), message, sizeof message) != 0) {
    return golden::add_failure(result, message);
  }
  const auto& expected = p.of("embeddings");
  const auto& words = p.tensors.at("x").data;
  std::vector<double> limits;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    const double position = expected[n].value() - double{words[n]};
    // The fastest component rotates by 1 a position.
    const double angle = e.position_offset + static_cast<int>(n / e.width) % e.length;
    const double of_table = e.positions == PLUMBLINE_LEARNABLE
                                ? 0.0
                                : op_bounds::sinusoidal_limit(angle, e.amplitude, position);
    limits.push_back(
        op_bounds::embedding_limit({{words[n], 0.0}, {position, of_table}}, storage(format)));
  }
  compare(result, "x", x, expected, limits);
}

void check_backward(golden::FileResult& result, const EmbeddingKernels& kernels, const Problem& p,
                    const plumbline_embedding& e, Format format) {
  const bool learnable = e.positions == PLUMBLINE_LEARNABLE;
  const auto& grad = p.tensors.at("grad_embeddings").data;
  Numbers grad_x(grad, format), word(p.word.size(), Format::fp32),
      position(learnable ? p.tensors.at("table").data.size() : 0, Format::fp32);
  char message[512] = "";
  if (kernels.backward(&e, grad_x.data(), static_cast<float*>(word.data()),
                       learnable ? static_cast<float*>(position.data()) : nullptr, message,
                       sizeof message) != 0) {
    return golden::add_failure(result, message);
  }
  const std::vector<double> wide(grad.begin(), grad.end());
  const auto check = [&](const char* name, const Numbers& got,
                         const std::vector<RunningError>& expected, const std::vector<int>& ids) {
    const int rows = static_cast<int>(expected.size()) / e.width;
    compare(result, name, got, expected,
            op_bounds::embedding_grad_limits(rows, e.width, ids, wide, {},
                                             [&](int) { return e.batch; }));
  };
  std::vector<RunningError> of_words(p.word.size());
  std::vector<int> positions;
  for (std::size_t n = 0; n < of_words.size(); ++n) {
    of_words[static_cast<std::size_t>(p.ids[n / e.width]) * e.width + n % e.width] =
        p.of("grad_x")[n];
  }
  for (int n = 0; n < p.tokens(); ++n) positions.push_back(n % e.length + e.position_offset);
  check("grad_word", word, of_words, p.ids);
  if (learnable) check("grad_position", position, p.of("grad_table"), positions);
}

}  // namespace

golden::FileResult check_embedding(const EmbeddingKernels& kernels, const std::string& method,
                                   cases::Pass pass) {
  golden::FileResult result;
  Draw draw(1 + static_cast<std::uint64_t>(pass));
  for (const Format format : {Format::fp32, Format::bf16, Format::fp16}) {
    for (int n = 0; n < problems_of_a_format; ++n) {
      const Problem p = problem_of(method, pass, format, draw);
      const plumbline_embedding e = arguments(p, method, format);
      (pass == cases::Pass::backward ? check_backward : check_forward)(result, kernels, p, e,
                                                                       format);
      ++result.cases;
    }
  }
  return result;
}

}  // namespace plumbline::cli
