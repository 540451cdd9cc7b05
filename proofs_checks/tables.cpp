// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/tables.hpp"

#include <algorithm>
#include <stdexcept>

#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks {
namespace {

/// sign (other - one) > 0 for each of `others` that the sample has.
struct Apart {
  static constexpr Relation relation = Relation::above_zero;
  double sign;
  std::string one;
  std::vector<std::string> others;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    std::vector<Placed<R>> residuals;
    for (const std::string& other : others) {
      if (in.has(other))
        residuals.push_back({R(sign) * (in.number(other) - in.number(one)), other});
    }
    return residuals;
  }
};

struct Between {
  static constexpr Relation relation = Relation::at_least_zero;
  std::string lower, value, upper;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    return {{in.number(value) - in.number(lower), value + " - " + lower},
            {in.number(upper) - in.number(value), upper + " - " + value}};
  }
};

const std::vector<int>& column_of(const Table& table, const std::string& name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const auto& column) { return column.first == name; });
  if (found == table.columns.end()) throw std::out_of_range("the table has no column " + name);
  return found->second;
}

}  // namespace

std::vector<Sample> rows(const Table& table, int shortest, int longest) {
  std::vector<Sample> samples;
  for (std::size_t k = 0; k < table.lengths.size(); ++k) {
    if (table.lengths[k] < shortest || table.lengths[k] > longest) continue;
    Sample sample = Sample{}.with("T", {static_cast<double>(table.lengths[k])});
    for (const auto& [name, numbers] : table.columns) {
      if (numbers[k] != Table::missing) sample.printed(name, numbers[k], 1);
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::vector<Sample> rows(const std::vector<Table>& tables, int shortest, int longest) {
  std::vector<Sample> samples;
  for (const Table& table : tables) {
    for (Sample& sample : rows(table, shortest, longest)) samples.push_back(std::move(sample));
  }
  return samples;
}

std::vector<Sample> pairs(const Table& table, const std::string& column, int shortest, int longest,
                          int against) {
  const std::vector<int>& numbers = column_of(table, column);
  std::vector<Sample> samples;
  for (std::size_t k = 1; k < table.lengths.size(); ++k) {
    if (table.lengths[k] < shortest || table.lengths[k] > longest) continue;
    const std::size_t other = against == 0
                                  ? k - 1
                                  : std::find(table.lengths.begin(), table.lengths.end(), against) -
                                        table.lengths.begin();
    samples.push_back(Sample{}
                          .with("T before", {static_cast<double>(table.lengths.at(other))})
                          .printed("before", numbers.at(other), 1)
                          .with("T", {static_cast<double>(table.lengths[k])})
                          .printed("here", numbers[k], 1));
  }
  return samples;
}

std::vector<Check> below(Role role, const std::string& what, const std::vector<Sample>& samples,
                         const std::string& smaller, const std::vector<std::string>& larger) {
  return for_all(role, what, Apart{1.0, smaller, larger}, samples);
}

std::vector<Check> above(Role role, const std::string& what, const std::vector<Sample>& samples,
                         const std::string& larger, const std::vector<std::string>& smaller) {
  return for_all(role, what, Apart{-1.0, larger, smaller}, samples);
}

std::vector<Check> between(Role role, const std::string& what, const std::vector<Sample>& samples,
                           const std::string& lower, const std::string& value,
                           const std::string& upper) {
  return for_all(role, what, Between{lower, value, upper}, samples);
}

}  // namespace plumbline::proofs_checks
