// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "cli/campaign.hpp"
#include "support/error.hpp"
#include "verdict/property/merge.hpp"

namespace plumbline::cli {
namespace {

using verdict::CellResult;

/// The first case of a cell that fails, and on which rank.
struct Failure {
  int at, rank;
};

std::vector<std::optional<Failure>> first_failures(const std::vector<CellResult>& results,
                                                   Ranks& ranks) {
  const auto cells = results.size(), own = static_cast<std::size_t>(ranks.communicator().rank()),
             count = static_cast<std::size_t>(ranks.count());
  // Each rank fills its own numbers; the others' are 0, so that the sum is exact.
  std::vector<double> numbers(count * cells);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const bool fails = results[cell].outcome == verdict::Outcome::fail;
    numbers[own * cells + cell] = fails ? results[cell].decided_at + 1 : 0;
  }
  ranks.in_step([&] { ranks.communicator().sum(numbers); });
  std::vector<std::optional<Failure>> first(cells);
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    auto& failure = first[n % cells];
    const int at = static_cast<int>(numbers[n]) - 1;
    if (at >= 0 && (!failure || at < failure->at)) failure = {at, static_cast<int>(n / cells)};
  }
  return first;
}

/// How many cells every rank has checked.
std::size_t cells_of_all(std::size_t own, Ranks& ranks) {
  std::vector<double> numbers(static_cast<std::size_t>(ranks.count()));
  numbers[static_cast<std::size_t>(ranks.communicator().rank())] = static_cast<double>(own);
  ranks.in_step([&] { ranks.communicator().sum(numbers); });
  return static_cast<std::size_t>(*std::min_element(numbers.begin(), numbers.end()));
}

/// Until no rank counts a case beyond the first failing one of a cell.
std::vector<std::optional<Failure>> end_at_failures(const Campaign& campaign,
                                                    std::vector<CellResult>& results,
                                                    Ranks& ranks) {
  const auto count = static_cast<std::size_t>(ranks.count());
  const int own = ranks.communicator().rank();
  // By rank and cell: the cases that were checked are those before.
  std::vector<std::vector<int>> ends(
      count, std::vector<int>(results.size(), std::numeric_limits<int>::max()));
  while (true) {
    const auto failures = first_failures(results, ranks);
    std::vector<std::size_t> again;
    bool done = true;
    for (std::size_t n = 0; n < count * results.size(); ++n) {
      const auto cell = n / count, rank = n % count;
      const auto& failure = failures[cell];
      if (!failure || failure->rank == static_cast<int>(rank) || ends[rank][cell] <= failure->at) {
        continue;
      }
      ends[rank][cell] = failure->at;
      done = false;
      if (static_cast<int>(rank) == own) again.push_back(cell);
    }
    if (done) return failures;
    ranks.together([&] {
      for (const std::size_t cell : again) {
        verdict::Shard shard = campaign.shard;
        shard.before = static_cast<long>(cell) * campaign.cases_per_cell;
        shard.end = ends[static_cast<std::size_t>(own)][cell];
        results[cell] = check_shard(campaign, cell, shard);
      }
    });
  }
}

/// Rank 0 gets the results of each other rank.
std::vector<std::vector<CellResult>> gathered(const std::vector<CellResult>& results,
                                              Ranks& ranks) {
  auto& communicator = ranks.communicator();
  std::vector<std::byte> bytes;
  if (!ranks.first()) bytes = verdict::pack(results);
  std::vector<double> sizes(static_cast<std::size_t>(ranks.count()));
  sizes[static_cast<std::size_t>(communicator.rank())] = static_cast<double>(bytes.size());
  std::vector<std::vector<CellResult>> of_others;
  ranks.in_step([&] {
    communicator.sum(sizes);
    // What is sent are floats; these are bytes, and nobody computes with them.
    const auto floats = [](double size) { return (static_cast<std::size_t>(size) + 3) / 4; };
    if (!ranks.first()) {
      std::vector<float> message(floats(static_cast<double>(bytes.size())));
      std::memcpy(message.data(), bytes.data(), bytes.size());
      return communicator.send(message.data(), message.size(), 0);
    }
    for (int rank = 1; rank < ranks.count(); ++rank) {
      const double size = sizes[static_cast<std::size_t>(rank)];
      std::vector<float> message(floats(size));
      communicator.receive(message.data(), message.size(), rank);
      of_others.push_back(
          verdict::unpack(std::as_bytes(std::span(message)).first(static_cast<std::size_t>(size))));
    }
  });
  return of_others;
}

/// The counterexample that another rank has found, by running its case here.
void find_again(const Campaign& campaign, std::size_t cell, int rank, CellResult& result) {
  verdict::Shard only;
  only.before = static_cast<long>(cell) * campaign.cases_per_cell;
  only.count = campaign.cases_per_cell + 1;
  only.first = static_cast<int>((only.before + result.decided_at) % only.count);
  only.end = result.decided_at + 1;
  const CellResult again = check_shard(campaign, cell, only);
  if (again.counterexample && again.outcome == result.outcome) {
    result.counterexample = again.counterexample;
    return;
  }
  verdict::Judgement& judgement = result.counterexample->judgement;
  const std::string words = judgement.failure.empty() ? judgement.kind : judgement.failure;
  judgement.kind = kernel_process::failure_kind::nondeterministic;
  judgement.failure = fmt::format(
      "the verdict of rank {} was {}{}, that of rank 0, which ran the "
      "case again, was {}",
      rank, verdict::name(result.outcome), words.empty() ? "" : " (" + words + ")",
      verdict::name(again.outcome));
}

}  // namespace

void expect_same_cells(const Campaign& campaign, Ranks& ranks) {
  if (ranks.count() == 1) return;
  std::string cells;
  for (const auto& [kernel, pass, bias, format, offer] : campaign.cells) {
    cells += fmt::format("{} {} {} {}\n", kernel->name(), cases::name(pass), cases::name(bias),
                         cases::name(format));
  }
  bool same = true;
  ranks.in_step([&] { same = ranks.as_on_first(std::as_bytes(std::span(cells))); });
  ranks.together([&] {
    if (!same) throw MachineLacks("the kernels here offer other cases than those of rank 0");
  });
}

std::vector<CellResult> check_cells(Campaign campaign, Ranks& ranks, const CellDone& cell_done) {
  if (ranks.count() == 1) return check_own_cells(campaign, cell_done);
  const Campaign whole = campaign;
  const int rank = ranks.communicator().rank();
  campaign.shard.first += campaign.shard.count * rank;
  campaign.shard.count *= ranks.count();
  std::vector<CellResult> results;
  ranks.together([&] { results = check_own_cells(campaign, [](const auto&, auto&) {}); });
  // A rank that lost its device has left cells out; as in one process, the run ends there.
  results.resize(cells_of_all(results.size(), ranks));
  const auto failures = end_at_failures(campaign, results, ranks);
  const auto of_others = gathered(results, ranks);
  if (!ranks.first()) return {};
  for (std::size_t cell = 0; cell < results.size(); ++cell) {
    CellResult& result = results[cell];
    int found_by = 0;
    for (std::size_t other = 0; other < of_others.size(); ++other) {
      const int before = result.decided_at;
      verdict::merge(result, of_others[other][cell]);
      if (result.decided_at != before) found_by = static_cast<int>(other) + 1;
    }
    if (failures[cell]) found_by = failures[cell]->rank;
    if (found_by > 0) find_again(whole, cell, found_by, result);
    cell_done(campaign.cells[cell], result);
    if (result.counterexample && result.counterexample->judgement.device_lost) {
      results.resize(cell + 1);
    }
  }
  return results;
}

}  // namespace plumbline::cli
