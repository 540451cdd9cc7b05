// SPDX-License-Identifier: Apache-2.0
#include "verdict/conventions/matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <set>

#include "verdict/conventions/matching_gradients.hpp"
#include "verdict/conventions/reading.hpp"
#include "verdict/judge/gradients.hpp"

namespace plumbline::verdict {

/// Whether o and lse are what the convention gives, and by how many bits that is no chance.
struct Agreement {
  bool o = true, lse = true;
  bool lse_is_right = true;  ///< as the case has it, whatever the convention gives
  double bits = 0, o_bits = 0;
  bool any() const { return o || lse; }
};

namespace {

/// Products of a query and a key, times head_dim, that one convention may take over all its rows.
constexpr double most_work = 0x1p23;
constexpr int fewest_rows = 16;

bool agrees(const OracleNumber& expected, double got) {
  if (!std::isfinite(expected.bound)) return true;  // nothing can be said of it
  return std::abs(got - expected.value) <= expected.bound + expected.radius;
}

/// The case's rows as they should be, each read once for all conventions.
class RightRows {
 public:
  RightRows(const Evidence& evidence, const Contract& contract)
      : spec_(evidence.the_case.spec),
        reading_(convention_, evidence.the_case, contract,
                 o_format(spec_, contract, evidence.outputs)) {}

  const OracleRow& at(std::size_t n) {
    const auto [place, is_new] = rows_.try_emplace(n);
    if (is_new) {
      const std::size_t head = n / spec_.queries;
      place->second =
          reading_.row(static_cast<int>(head / spec_.heads), static_cast<int>(head % spec_.heads),
                       static_cast<int>(n % spec_.queries));
    }
    return place->second;
  }

 private:
  const Convention convention_{};
  const cases::Spec& spec_;
  ConventionReading reading_;
  std::map<std::size_t, OracleRow> rows_;
};

std::size_t row_of(const cases::Spec& spec, const Element& element) {
  return (static_cast<std::size_t>(element.index[0]) * spec.heads + element.index[1]) *
             spec.queries +
         element.index[2];
}

/// Those of the worst elements first: they are what most conventions do not explain.
std::vector<std::size_t> rows_to_read(const Evidence& evidence) {
  const auto& spec = evidence.the_case.spec;
  const auto rows = static_cast<std::size_t>(spec.batch) * spec.heads * spec.queries;
  const double work = static_cast<double>(spec.keys) * spec.head_dim;
  const auto readable = static_cast<std::size_t>(std::max<double>(most_work / work, fewest_rows));
  std::vector<std::size_t> order;
  for (const auto& output : evidence.judgement.outputs) {
    if (output.name == "o" || output.name == "lse") order.push_back(row_of(spec, output.worst));
  }
  // Odd, a step meets every head and every place in a tile.
  const std::size_t step = rows <= readable ? 1 : (rows / readable) | 1;
  for (std::size_t n = 0; n < rows; n += step) order.push_back(n);
  return order;
}

void compare(Agreement& agreement, const Convention& convention, const Evidence& evidence,
             const Contract& contract, RightRows& right) {
  const auto& [the_case, outputs, judgement] = evidence;
  const auto& spec = the_case.spec;
  const ConventionReading reading(convention, the_case, contract,
                                  o_format(spec, contract, outputs));
  const auto dim = static_cast<std::size_t>(spec.value_width());
  const bool has_lse = !contract.no_lse;
  std::set<std::size_t> counted;
  for (const std::size_t n : rows_to_read(evidence)) {
    const int batch = static_cast<int>(n / spec.queries / spec.heads);
    const int head = static_cast<int>(n / spec.queries % spec.heads);
    const int query = static_cast<int>(n % spec.queries);
    if (!the_case.has_row(batch, query)) continue;
    const OracleRow expected = reading.row(batch, head, query);
    if (expected.left_out) continue;
    // Of empty rows a convention has none but the usual result.
    if (expected.sees_no_key && contract.empty_rows != PLUMBLINE_EMPTY_ROWS_ARE_ZERO) continue;
    const QueryRow row{the_case, batch, head, query, the_case.position(batch, query)};
    const std::size_t place = convention.place ? convention.place(row) : n;
    for (std::size_t d = 0; d < dim; ++d) {
      agreement.o = agreement.o && agrees(expected.o[d], outputs.o[place * dim + d]);
    }
    const float lse = has_lse ? outputs.lse[n] : 0.0f;
    agreement.lse =
        agreement.lse && has_lse &&
        (expected.sees_no_key ? lse == expected.lse.value || (convention.lse && std::isinf(lse))
                              : agrees(expected.lse, lse));
    if (!agreement.any()) return;
    if (!counted.insert(n).second) continue;
    double of_o = 0;
    for (std::size_t d = 0; d < dim; ++d) {
      of_o = std::max(of_o, bits_apart(expected.o[d], right.at(place).o[d]));
    }
    agreement.o_bits += of_o;
    agreement.bits += has_lse ? std::max(of_o, bits_apart(expected.lse, right.at(n).lse)) : of_o;
  }
}

void consider(Agreement& agreement, const Convention& convention, const Evidence& evidence,
              const Contract& contract, RightRows& right_rows) {
  if (convention.of_natural_lse && contract.lse_base_2) {
    agreement.o = agreement.lse = false;
    return;
  }
  if (!convention.concerns || convention.concerns(evidence.the_case)) {
    try {
      compare(agreement, convention, evidence, contract, right_rows);
    } catch (const std::exception&) {
      agreement.o = agreement.lse = false;  // the equations refuse to be read so
    }
    return;
  }
  // It would be right here.
  const auto right = [&](const char* output) {
    if (contract.no_lse && std::string_view(output) == "lse") return false;
    return evidence.judgement.output(output).outcome != Outcome::fail;
  };
  agreement.o = agreement.o && right("o");
  agreement.lse = agreement.lse && right("lse");
}

Match match_of(const Convention& convention, const char* format) {
  return {std::string(convention.name),
          fmt::format(fmt::runtime(format), convention.words, convention.remedy)};
}

}  // namespace

std::vector<const Convention*> conventions_of_the_forward_pass() {
  std::vector<const Convention*> all;
  for (const auto* some :
       {&conventions_of_biases(), &conventions_of_parameters(), &conventions_of_masks(),
        &conventions_of_dropout(), &conventions_of_scores(), &conventions_of_8_bits()}) {
    for (const Convention& one : *some) all.push_back(&one);
  }
  return all;
}

double bits_apart(const OracleNumber& of_convention, const OracleNumber& right) {
  const double apart = std::abs(of_convention.value - right.value);
  const double bounds = of_convention.bound + of_convention.radius + right.bound + right.radius;
  if (of_convention.not_judged || right.not_judged || !(apart > bounds)) return 0;
  return std::min(std::log2(apart / bounds), most_bits_of_row);
}

struct ConventionSearch::Forward {
  struct Candidate {
    const Convention* convention;
    Agreement agreement{};
  };
  std::vector<Candidate> candidates;

  Forward() {
    for (const Convention* of : conventions_of_the_forward_pass()) candidates.push_back({of});
  }

  void consider(const Evidence& evidence, const Contract& contract) {
    RightRows right(evidence, contract);
    for (auto& [convention, agreement] : candidates) {
      verdict::consider(agreement, *convention, evidence, contract, right);
      const bool fails =
          !contract.no_lse && evidence.judgement.output("lse").outcome == Outcome::fail;
      agreement.lse_is_right = agreement.lse_is_right && !fails;
    }
    std::erase_if(candidates, [](const Candidate& one) { return !one.agreement.any(); });
  }

  std::vector<Match> matches() const {
    std::vector<Match> of_both, of_o;
    for (const auto& [convention, agreement] : candidates) {
      if (agreement.o && agreement.lse && agreement.bits >= enough_bits) {
        of_both.push_back(match_of(*convention, "o and lse are those of a kernel {}: {}"));
      } else if (agreement.o && agreement.o_bits >= enough_bits && !convention->lse) {
        // A function that returns no lse has not got it wrong.
        of_o.push_back(match_of(*convention, agreement.lse_is_right
                                                 ? "o is that of a kernel {}: {}"
                                                 : "o, but not lse, is that of a kernel {}: {}"));
      }
    }
    return of_both.empty() ? of_o : of_both;
  }
};

ConventionSearch::ConventionSearch(const Contract& contract, int threads)
    : contract_(contract), threads_(threads) {}
ConventionSearch::~ConventionSearch() = default;

void ConventionSearch::consider(const Evidence& evidence) {
  const Contract contract = contract_for(contract_, evidence.the_case.spec);
  if (!forward_ && !gradients_) {
    const auto& judgement = evidence.judgement;
    if (judgement.output("o").failed > 0 ||
        (!contract.no_lse && judgement.output("lse").failed > 0)) {
      forward_ = std::make_unique<Forward>();
    } else if (evidence.the_case.spec.pass == cases::Pass::backward) {
      gradients_ = std::make_unique<GradientSearch>();
    }
  }
  if (forward_) forward_->consider(evidence, contract);
  if (gradients_) gradients_->consider(evidence, contract, threads_);
}

bool ConventionSearch::any_left() const {
  return (forward_ && !forward_->candidates.empty()) || (gradients_ && gradients_->any_left());
}

std::vector<Match> ConventionSearch::matches() const {
  std::vector<Match> matches;
  if (forward_) matches = forward_->matches();
  if (gradients_) matches = gradients_->matches();
  if (matches.size() > most_matches) matches.clear();
  return matches;
}

}  // namespace plumbline::verdict
