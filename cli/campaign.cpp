// SPDX-License-Identifier: Apache-2.0
#include "cli/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "cli/progress.hpp"

namespace plumbline::cli {
namespace {

std::string label_of(const Cell& cell) {
  return fmt::format("{} {} {} {}", cell.kernel->name(), cases::name(cell.pass),
                     cases::name(cell.bias), cases::name(cell.format));
}

}  // namespace

std::vector<Cell> offered_cells(const Selection& selection,
                                const std::vector<verdict::Kernel>& kernels,
                                std::vector<std::string>& not_offered) {
  const auto passes = selection.chosen_passes();
  const auto biases = selection.chosen_biases();
  auto formats = selection.chosen_formats();
  std::vector<Cell> cells;
  for (const auto pass : passes) {
    for (const auto bias : biases) {
      for (const auto format : formats) {
        for (const auto& kernel : kernels) {
          if (verdict::offers(kernel, pass, bias, format))
            cells.push_back({&kernel, pass, bias, format});
        }
      }
    }
  }
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
  std::stable_sort(cells.begin(), cells.end(),
                   [](const Cell& a, const Cell& b) { return a.kernel < b.kernel; });
  return cells;
}

verdict::CellResult check_shard(const Campaign& campaign, std::size_t cell,
                                const verdict::Shard& shard, const verdict::CaseDone& case_done) {
  const auto& [kernel, pass, bias, format] = campaign.cells[cell];
  return verdict::check_cell(*kernel, pass, bias, format, campaign.cases_per_cell,
                             cell_seed(campaign.seed, pass, bias, format), campaign.threads,
                             case_done, shard);
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
