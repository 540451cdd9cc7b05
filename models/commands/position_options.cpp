// SPDX-License-Identifier: Apache-2.0
#include "models/commands/position_options.hpp"

#include "model/position_method.hpp"
#include "models/training/model_json.hpp"
#include "plumbline_kernel.h"

namespace plumbline::cli {
namespace {

using gpu::PositionMethod;
using Options = gpu::PositionOptions;

bool is_sinusoidal(const PositionMethod& m) {
  return m.embedded == gpu::EmbeddedPositions::sinusoidal ||
         m.embedded == gpu::EmbeddedPositions::sinusoidal_own_frequency;
}
bool is_rope(const PositionMethod& m) { return m.bias.has_rope(); }
bool has_base(const PositionMethod& m) { return is_sinusoidal(m) || is_rope(m); }
bool has_window(const PositionMethod& m) { return m.window != gpu::PositionWindow::none; }
bool is_t5(const PositionMethod& m) {
  return m.bias.method == PLUMBLINE_T5 || m.bias.method == PLUMBLINE_T5_BIDIRECTIONAL;
}
bool is_clipped_t5(const PositionMethod& m) {
  return m.bias.method == PLUMBLINE_T5_CLIPPED || m.bias.method == PLUMBLINE_T5_CLIPPED_OFFSET;
}
bool is_cope(const PositionMethod& m) { return m.bias.method == PLUMBLINE_COPE; }
bool is_ggd(const PositionMethod& m) { return m.bias.method == PLUMBLINE_GGD; }

/// Of RoPE in BAM's models 500,000: the paper's appendix C builds on Llama 3 (arXiv:2407.21783,
/// table 3), and its published models/rotary.py says so. Of everything else 10,000, BAM's
/// models/sinusoidal.py among it.
double usual_base(const gpu::ModelConfiguration& model) {
  return is_rope(gpu::position_method(model.position)) &&
                 model.architecture == gpu::Architecture::llama_style
             ? 500000
             : 10000;
}

/// CABLE's published code scales its baseline's table by 0.1, BAM's does not. With 1 the table is
/// fifty times the embeddings of the tokens, N(0, 0.02) at first, and hides them for long: a small
/// GPT-2 stays at the unigram entropy (docs/extrapolation.md).
double usual_amplitude(const gpu::ModelConfiguration& model) {
  return model.architecture == gpu::Architecture::llama_style ? 1 : 0.1;
}

/// An option, which methods read it, and where it goes.
struct PositionOption {
  const char* name;
  bool (*is_read_by)(const PositionMethod&);
  void (*take)(const PositionChoice&, Options&);
};

template <auto member>
void copy(const PositionChoice& choice, Options& to) {
  to.*member = choice.options.*member;
}

void take_prior_start(const PositionChoice& choice, Options& to) {
  to.prior_start = training::prior_start_from(choice.prior_start, "--prior-start");
}

constexpr PositionOption all_options[] = {{"--base", has_base, copy<&Options::base>},
                                          {"--amplitude", is_sinusoidal, copy<&Options::amplitude>},
                                          {"--window", has_window, copy<&Options::window>},
                                          {"--buckets", is_t5, copy<&Options::buckets>},
                                          {"--max-distance", is_t5, copy<&Options::max_distance>},
                                          {"--largest", is_clipped_t5, copy<&Options::largest>},
                                          {"--positions", is_cope, copy<&Options::positions>},
                                          {"--prior-start", is_ggd, take_prior_start},
                                          {"--train-mu", is_ggd, copy<&Options::trains_mu>}};

std::string readers_of(const PositionOption& option) {
  std::string names;
  for (const PositionMethod& method : gpu::position_methods())
    if (option.is_read_by(method)) names += (names.empty() ? "" : ", ") + std::string(method.name);
  return names;
}

}  // namespace

void add_position_options(CLI::App& command, PositionChoice& c) {
  command.add_option("--position", c.position,
                     "Position method: cable, alibi, ggd, rope, sinusoidal, ... (docs/methods.md)");
  command.add_option(
      "--base", c.options.base,
      "Base of RoPE (10000; BAM's models 500000) and of sinusoidal positions (10000)");
  command.add_option("--amplitude", c.options.amplitude,
                     "Amplitude of sinusoidal positions (0.1 as in CABLE's code; BAM's models 1); "
                     "token embeddings initially have standard deviation 0.02");
  command.add_option("--window", c.options.window, "Window of local RoPE (64)");
  command.add_option("--buckets", c.options.buckets, "Buckets of T5 (32)");
  command.add_option("--max-distance", c.options.max_distance, "Maximum distance of T5 (128)");
  command.add_option("--largest", c.options.largest, "Largest distance of clipped T5 tables (256)");
  command.add_option("--positions", c.options.positions, "Rows of CoPE's table (64)");
  command.add_option("--prior-start", c.prior_start,
                     "GGD: initial prior, uniform or slope (default)");
  command.add_flag("--train-mu", c.options.trains_mu, "GGD: train theta_mu");
}

void choose_position(const CLI::App& command, const PositionChoice& choice, bool begun,
                     gpu::ModelConfiguration& model) {
  if (command.count("--position") > 0) model.position = choice.position;
  const PositionMethod& method = gpu::position_method(model.position);
  if (!begun) {
    model.options.base = usual_base(model);
    if (is_sinusoidal(method)) model.options.amplitude = usual_amplitude(model);
  }
  for (const PositionOption& option : all_options) {
    if (command.count(option.name) == 0) continue;
    if (!option.is_read_by(method))
      throw BadInput(option.name, "given with the position method " + std::string(method.name),
                     "only with " + readers_of(option));
    option.take(choice, model.options);
  }
  if (begun && command.count("--prior-start") > 0)
    throw BadInput("--prior-start", "given with --from", "only without initial weights");
}

}  // namespace plumbline::cli
