// SPDX-License-Identifier: Apache-2.0
// plumbline identities: what a kernel's runs have in common, at lengths that no oracle reaches.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/builtin_kernels.hpp"
#include "cli/command.hpp"
#include "cli/device_option.hpp"
#include "cli/installation.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "support/error.hpp"
#include "verdict/cases/formats.hpp"
#include "verdict/identities/identities.hpp"

namespace plumbline::cli {
namespace {

using verdict::Identity;
using verdict::Outcome;

struct IdentitiesOptions {
  std::string kernel_path, device, backend = "emulated";
  double time_limit = 600;
  std::vector<std::string> kernels;
  Selection selection;
  int batch = 2, heads = 2, kv_heads = 0, queries = 0, keys = 4096, head_dim = 64;
  bool not_causal = false;
  std::string seed = "1", json;
};

/// What was asked of one kernel, pass, bias and format.
struct IdentityCell {
  std::string kernel;
  cases::Spec spec;
  std::vector<Identity> identities;

  Outcome outcome() const {
    Outcome worst = Outcome::pass;
    for (const auto& identity : identities) worst = verdict::worse(worst, identity.outcome);
    return worst;
  }
};

/// The formats that are asked for, or those without scales.
std::vector<cases::Format> formats_of(const Selection& selection) {
  std::vector<cases::Format> formats;
  for (const auto format : selection.chosen_formats()) {
    if (!cases::has_scales(format)) {
      formats.push_back(format);
    } else if (!selection.formats.empty() && selection.formats.front() != "all") {
      throw BadInput("--dtype", in_quotes(cases::name(format)), "fp32, bf16, fp16 or tf32");
    }
  }
  return formats;
}

std::vector<cases::Pass> passes_of(const Selection& selection) {
  std::vector<cases::Pass> passes;
  for (const auto pass : selection.chosen_passes()) {
    if (pass != cases::Pass::decode) {
      passes.push_back(pass);
    } else if (!selection.passes.empty() && selection.passes.front() != "all") {
      throw BadInput("--pass", "\"decode\"", "forward or backward");
    }
  }
  return passes;
}

cases::Spec spec_of(const IdentitiesOptions& options) {
  cases::Spec spec;
  spec.batch = options.batch;
  spec.heads = options.heads;
  spec.kv_heads = options.kv_heads > 0 ? options.kv_heads : options.heads;
  spec.keys = options.keys;
  spec.queries = options.queries > 0 ? options.queries : std::min(16, options.keys);
  if (spec.queries > spec.keys) {
    throw BadInput("--queries", std::to_string(spec.queries),
                   fmt::format("at most --keys, which is {}", spec.keys));
  }
  spec.query_offset = spec.keys - spec.queries;
  spec.head_dim = options.head_dim;
  spec.mask.causal = !options.not_causal;
  if (spec.heads % spec.kv_heads != 0) {
    throw BadInput("--heads", fmt::format("{} with --kv-heads {}", spec.heads, spec.kv_heads),
                   "a multiple of --kv-heads");
  }
  return spec;
}

std::string outcome_of(const Identity& identity) {
  return identity.not_asked.empty() ? std::string(verdict::name(identity.outcome)) : "not asked";
}

void print(const IdentityCell& cell) {
  std::cout << fmt::format("{} {} {} {}, {} queries, {} keys\n", cell.kernel,
                           cases::name(cell.spec.pass), cases::name(cell.spec.bias),
                           cases::name(cell.spec.format), cell.spec.queries, cell.spec.keys);
  for (const auto& identity : cell.identities) {
    std::cout << fmt::format("  {:<17} {:<10} {}\n", identity.name, outcome_of(identity),
                             identity.not_asked.empty()
                                 ? fmt::format("{:.3g}  {}", identity.worst, identity.says)
                                 : identity.not_asked);
    if (!identity.where.empty()) std::cout << "    " << identity.where << "\n";
  }
  std::cout << std::flush;
}

nlohmann::ordered_json to_json(const std::vector<IdentityCell>& cells) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& cell : cells) {
    auto identities = nlohmann::ordered_json::array();
    for (const auto& identity : cell.identities) {
      identities.push_back({{"name", identity.name},
                            {"outcome", outcome_of(identity)},
                            {"worst", identity.worst},
                            {"where", identity.where},
                            {"not_asked", identity.not_asked}});
    }
    all.push_back({{"kernel", cell.kernel},
                   {"spec", cases::to_line(cell.spec)},
                   {"outcome", verdict::name(cell.outcome())},
                   {"identities", identities}});
  }
  return {{"cells", all}};
}

int identities(const IdentitiesOptions& options) {
  const auto formats = formats_of(options.selection);
  const auto passes = passes_of(options.selection);
  const auto biases = options.selection.chosen_biases();
  cases::Spec spec = spec_of(options);
  const std::uint64_t seed = seed_from(options.seed);
  Report json(options.json);
  const bool table = options.json != "-";
  const auto library =
      options.kernel_path.empty()
          ? load_backend(options.backend)
          : verdict::isolate_kernel_library(program_prefix() / "bin/plumbline-kernel-host",
                                            options.kernel_path, options.time_limit,
                                            software_device(options.device));
  std::string offered;
  for (const auto& kernel : library.kernels) {
    offered += (offered.empty() ? "" : ", ") + kernel.name();
  }
  for (const auto& name : options.kernels) {
    const bool known = std::any_of(library.kernels.begin(), library.kernels.end(),
                                   [&](const auto& kernel) { return kernel.name() == name; });
    if (!known) throw BadInput("--kernels", in_quotes(name), "one of " + offered);
  }
  constexpr long most_runs = 20;  // of a cell
  Progress progress(
      static_cast<long>(library.kernels.size() * passes.size() * biases.size() * formats.size()) *
      most_runs);
  std::vector<IdentityCell> cells;
  long run = 0;
  for (const auto& kernel : library.kernels) {
    const auto& chosen = options.kernels;
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), kernel.name()) == chosen.end()) {
      continue;
    }
    for (const auto pass : passes) {
      for (const auto bias : biases) {
        for (const auto format : formats) {
          spec.pass = pass;
          spec.bias = bias;
          spec.format = format;
          spec.seed = cell_seed(seed, pass, bias, format) >> 32;
          if (bias.method == PLUMBLINE_FOX && !spec.mask.causal) continue;
          if (bias.has_rope() && spec.head_dim % 2 != 0) continue;
          if (!kernel.supports(spec)) continue;
          verdict::validate(kernel.contract(format), format);
          // Of the built-in kernels those that nobody asked for by name.
          const bool is_asked_for = !chosen.empty() || !options.kernel_path.empty();
          if (!is_asked_for && verdict::field_without_identities(kernel.contract(format))) continue;
          cells.push_back({kernel.name(), spec,
                           verdict::check_identities(kernel, spec, [&](const std::string& name) {
                             progress.update(++run, kernel.name() + " " + name);
                           })});
          if (!table) continue;
          progress.clear();
          print(cells.back());
        }
      }
    }
  }
  if (cells.empty()) {
    throw BadInput("the selection",
                   "empty: no chosen kernel offers the chosen pass, bias, format and shape",
                   "at least one case to run");
  }
  progress.clear();
  if (json) json.write(to_text(to_json(cells)));
  const bool right = std::all_of(cells.begin(), cells.end(), [](const IdentityCell& cell) {
    return cell.outcome() == Outcome::pass;
  });
  return right ? all_right : verdict_against;
}

}  // namespace

void add_identities(CLI::App& app, Run& run) {
  auto options = std::make_shared<IdentitiesOptions>();
  auto* command = app.add_subcommand(
      "identities", "Compare a kernel's runs with each other, at any length and without an oracle");
  auto* kernel = reads(command
                           ->add_option("--kernel", options->kernel_path,
                                        "A shared library of kernels, run in a process of its own; "
                                        "default: the built-in kernels")
                           ->check(not_empty()));
  command
      ->add_option("--time-limit", options->time_limit,
                   "With --kernel: seconds that a call may take")
      ->check(number_from(0.01, 86400))
      ->capture_default_str()
      ->needs(kernel);
  add_device_option(*command, kernel, options->device);
  command->add_option("--backend", options->backend, "Where the built-in kernels run")
      ->check(one_of({"emulated", "cuda"}))
      ->capture_default_str();
  exclude(*command, kernel, {"--backend"});
  command->add_option("--kernels", options->kernels, "Only these kernels of the library")
      ->delimiter(',');
  add_selection_options(*command, options->selection, "forward, backward",
                        "fp32, bf16, fp16, tf32");
  const auto size = [&](const char* option, int& value, const char* description) {
    command->add_option(option, value, description)
        ->check(whole_number_from(1, cases::largest_size))
        ->capture_default_str();
  };
  size("--keys", options->keys, "Number of keys");
  command
      ->add_option("--queries", options->queries,
                   "Number of queries, at the end of the keys; default: 16, or as many as keys")
      ->check(whole_number_from(1, cases::largest_size));
  size("--batch", options->batch, "Number of sequences");
  size("--heads", options->heads, "Number of heads");
  command
      ->add_option("--kv-heads", options->kv_heads,
                   "Number of key heads; default: as many as heads")
      ->check(whole_number_from(1, cases::largest_size));
  size("--head-dim", options->head_dim, "Head dimension");
  command->add_flag("--not-causal", options->not_causal,
                    "Every query sees every key, which two of the identities need");
  command->add_option("--seed", options->seed, "Seed of the numbers")->capture_default_str();
  add_json_option(*command, options->json);
  command->callback([options, &run] { run = [options] { return identities(*options); }; });
}

}  // namespace plumbline::cli
