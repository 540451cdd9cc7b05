// SPDX-License-Identifier: Apache-2.0
#include "cli/campaign.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "cli/progress.hpp"
#include "support/error.hpp"

namespace plumbline::cli {
namespace {

std::string label_of(const Cell& cell) {
  return fmt::format("{} {} {} {}", cell.kernel->name(), cases::name(cell.pass),
                     cases::name(cell.bias), cases::name(cell.format));
}

}  // namespace

namespace {

/// Looks in every chosen cell; then, once the kernel's shapes are known, for these in the others.
std::vector<Cell> cells_of(const verdict::Kernel& kernel, const Selection& selection,
                           const verdict::Shapes& shapes) {
  std::vector<Cell> cells;
  for (const auto pass : selection.chosen_passes()) {
    for (const auto bias : selection.chosen_biases()) {
      for (const auto format : selection.chosen_formats()) {
        cells.push_back({&kernel, pass, bias, format});
      }
    }
  }
  verdict::Offer known;
  for (auto& [k, pass, bias, format, offer] : cells) {
    offer = verdict::offer_of(kernel, pass, bias, format, shapes);
    if (!offer.empty() && known.size() < 8) known.push_back(offer.front());
  }
  for (auto& [k, pass, bias, format, offer] : cells) {
    if (known.empty()) offer = verdict::offer_of_models(kernel, pass, bias, format, shapes);
    if (known.empty() && !offer.empty()) known = offer;
  }
  for (auto& [k, pass, bias, format, offer] : cells) {
    if (offer.empty()) offer = verdict::offer_like(known, kernel, pass, bias, format, shapes);
  }
  std::erase_if(cells, [](const Cell& cell) { return cell.offer.empty(); });
  return cells;
}

std::vector<Cell> cells_of(const std::vector<verdict::Kernel>& kernels, const Selection& selection,
                           const verdict::Shapes& shapes) {
  std::vector<Cell> cells;
  for (const auto& kernel : kernels) {
    for (Cell& cell : cells_of(kernel, selection, shapes)) cells.push_back(std::move(cell));
  }
  return cells;
}

std::string names_of(const std::vector<Cell>& cells, auto name) {
  std::vector<std::string_view> names;
  for (const Cell& cell : cells) {
    if (std::find(names.begin(), names.end(), name(cell)) == names.end()) {
      names.push_back(name(cell));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Why no cell is offered: the options each of which alone leaves nothing, and what there would be
/// without it; or, if no one option does, what is offered at all.
void refuse_empty(const std::vector<verdict::Kernel>& kernels, const Selection& selection,
                  const verdict::Shapes& shapes) {
  const auto refuse = [](const std::string& why) {
    throw BadInput("the selection", "empty: " + why, "at least one case to judge");
  };
  const bool restricted = !selection.passes.empty() || !selection.biases.empty() ||
                          !selection.formats.empty() || !(shapes == verdict::Shapes{});
  const std::vector<Cell> all = restricted ? cells_of(kernels, {}, {}) : std::vector<Cell>{};
  if (all.empty()) {
    refuse("no kernel supports any of the shapes that were tried: small random ones, and " +
           verdict::fixed_shapes_in_words() +
           "; --batch, --heads, --kv-heads, --queries, --keys, --head-dims, --scale and --softcap "
           "select others");
  }
  std::vector<std::string> reasons;
  const auto without = [&](const char* option, bool given, auto remove, auto describe) {
    if (!given) return;
    Selection other = selection;
    verdict::Shapes other_shapes = shapes;
    remove(other, other_shapes);
    const auto cells = cells_of(kernels, other, other_shapes);
    if (!cells.empty()) reasons.push_back(fmt::format("{} ({})", option, describe(cells)));
  };
  const auto offered = [](auto name) {
    return [name](const std::vector<Cell>& cells) { return "offered: " + names_of(cells, name); };
  };
  without(
      "--pass", !selection.passes.empty(), [](auto& s, auto&) { s.passes.clear(); },
      offered([](const Cell& cell) { return cases::name(cell.pass); }));
  without(
      "--bias", !selection.biases.empty(), [](auto& s, auto&) { s.biases.clear(); },
      offered([](const Cell& cell) { return cases::name(cell.bias); }));
  without(
      "--dtype", !selection.formats.empty(), [](auto& s, auto&) { s.formats.clear(); },
      offered([](const Cell& cell) { return cases::name(cell.format); }));
  const auto sizes_of = [](auto size) {
    return [size](const std::vector<Cell>& cells) {
      std::set<int> sizes;
      for (const Cell& cell : cells) {
        for (const auto& spec : cell.offer) sizes.insert(size(spec));
      }
      constexpr std::size_t few = 3;
      const bool more = sizes.size() > few;
      while (sizes.size() > few) sizes.erase(std::prev(sizes.end()));
      return fmt::format("offered: {}{}", fmt::join(sizes, ", "), more ? ", ..." : "");
    };
  };
  const auto size = [&](const char* option, auto member, int cases::Spec::*field) {
    without(
        option, !(shapes.*member).empty(), [&](auto&, auto& s) { (s.*member).clear(); },
        sizes_of([field](const cases::Spec& spec) { return spec.*field; }));
  };
  size("--batch", &verdict::Shapes::batch, &cases::Spec::batch);
  size("--heads", &verdict::Shapes::heads, &cases::Spec::heads);
  size("--kv-heads", &verdict::Shapes::kv_heads, &cases::Spec::kv_heads);
  size("--queries", &verdict::Shapes::queries, &cases::Spec::queries);
  size("--keys", &verdict::Shapes::keys, &cases::Spec::keys);
  size("--head-dims", &verdict::Shapes::head_dims, &cases::Spec::head_dim);
  without(
      "--value-dims", !shapes.value_dims.empty(), [](auto&, auto& s) { s.value_dims.clear(); },
      sizes_of([](const cases::Spec& spec) { return spec.value_width(); }));
  without(
      "--rotary-dims", !shapes.rotary_dims.empty(), [](auto&, auto& s) { s.rotary_dims.clear(); },
      sizes_of([](const cases::Spec& spec) { return spec.rotary_width(); }));
  without(
      "--scale", !shapes.scales.empty(), [](auto&, auto& s) { s.scales.clear(); },
      [](const auto&) { return "offered: 1/sqrt(head_dim), among others"; });
  without(
      "--softcap", !shapes.softcaps.empty(), [](auto&, auto& s) { s.softcaps.clear(); },
      [](const auto&) { return "offered: none, among others"; });
  if (!reasons.empty()) {
    refuse(fmt::format("there would be cases without {}", fmt::join(reasons, ", or without ")));
  }
  const Cell& one = all.front();
  refuse(fmt::format(
      "no kernel supports this combination; supported are {} {} {} of {}, and others",
      cases::name(one.pass), cases::name(one.bias), cases::name(one.format), one.kernel->name()));
}

}  // namespace

std::vector<Cell> offered_cells(const Selection& selection, const verdict::Shapes& shapes,
                                const std::vector<verdict::Kernel>& kernels,
                                std::vector<std::string>& not_offered) {
  const auto passes = selection.chosen_passes();
  const auto biases = selection.chosen_biases();
  auto formats = selection.chosen_formats();
  std::vector<Cell> cells = cells_of(kernels, selection, shapes);
  if (cells.empty()) refuse_empty(kernels, selection, shapes);
  const auto any = [&](auto is) { return std::any_of(cells.begin(), cells.end(), is); };
  // A format that no kernel knows is named once, not with every pass and bias.
  std::erase_if(formats, [&](cases::Format format) {
    if (any([&](const Cell& cell) { return cell.format == format; })) return false;
    not_offered.emplace_back(cases::name(format));
    return true;
  });
  for (const auto pass : passes) {
    std::vector<std::string> of_pass;
    bool any_bias = false;
    for (const auto bias : biases) {
      const auto name = fmt::format("{} {}", cases::name(pass), cases::name(bias));
      std::vector<std::string> of_bias;
      for (const auto format : formats) {
        const auto is_it = [&](const Cell& cell) {
          return cell.pass == pass && cell.bias == bias && cell.format == format;
        };
        if (!any(is_it)) of_bias.push_back(name + " " + std::string(cases::name(format)));
      }
      any_bias = any_bias || of_bias.size() < formats.size();
      if (of_bias.size() == formats.size()) of_bias = {name};
      of_pass.insert(of_pass.end(), of_bias.begin(), of_bias.end());
    }
    if (!any_bias) of_pass = {std::string(cases::name(pass))};
    not_offered.insert(not_offered.end(), of_pass.begin(), of_pass.end());
  }
  return cells;
}

verdict::CellResult check_shard(const Campaign& campaign, std::size_t cell,
                                const verdict::Shard& shard, const verdict::CaseDone& case_done) {
  const auto& [kernel, pass, bias, format, offer] = campaign.cells[cell];
  const verdict::Draws draws{campaign.shapes, offer,
                             campaign.most_work / static_cast<double>(campaign.cells.size())};
  return verdict::check_cell(*kernel, pass, bias, format, campaign.cases_per_cell,
                             cell_seed(campaign.seed, pass, bias, format), campaign.threads,
                             case_done, shard, draws);
}

std::vector<verdict::CellResult> check_own_cells(const Campaign& campaign,
                                                 const CellDone& cell_done) {
  std::vector<verdict::CellResult> results;
  Progress progress(static_cast<long>(campaign.cells.size()) * campaign.cases_per_cell);
  for (std::size_t cell = 0; cell < campaign.cells.size(); ++cell) {
    const long before = static_cast<long>(cell) * campaign.cases_per_cell;
    const std::string label = label_of(campaign.cells[cell]);
    verdict::Shard shard = campaign.shard;
    shard.before = before;
    results.push_back(check_shard(campaign, cell, shard,
                                  [&](int of_cell) { progress.update(before + of_cell, label); }));
    const auto& found = results.back().counterexample;
    if (found) progress.clear();
    cell_done(campaign.cells[cell], results.back());
    if (found && found->judgement.device_lost) break;
  }
  return results;
}

}  // namespace plumbline::cli
