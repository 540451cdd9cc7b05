// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/tables.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace plumbline::proofs_checks {
namespace {

/// sign (other - one) > 0 for each of `others` that the sample has.
Statement apart(double sign, const std::string& one, const std::vector<std::string>& others) {
  return above_zero([=]<class R>(const Inputs<R>& in) {
    std::vector<Placed<R>> residuals;
    for (const std::string& other : others) {
      if (in.has(other))
        residuals.push_back({R(sign) * (in.number(other) - in.number(one)), other});
    }
    return residuals;
  });
}

const std::vector<int>& column_of(const Table& table, const std::string& name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const auto& column) { return column.first == name; });
  if (found == table.columns.end()) throw std::out_of_range("the table has no column " + name);
  return found->second;
}

}  // namespace

Samples rows(const Table& table, int shortest, int longest) {
  Samples samples;
  for (std::size_t k = 0; k < table.lengths.size(); ++k) {
    if (table.lengths[k] < shortest || table.lengths[k] > longest) continue;
    Sample sample{{"T", static_cast<double>(table.lengths[k])}};
    for (const auto& [name, numbers] : table.columns) {
      if (numbers[k] != Table::missing) sample.with(printed(name, numbers[k]));
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

Samples rows(const std::vector<Table>& tables, int shortest, int longest) {
  Samples samples;
  for (const Table& table : tables) {
    for (Sample& sample : rows(table, shortest, longest)) samples.push_back(std::move(sample));
  }
  return samples;
}

Sample sums(const Table& table) {
  Sample sample;
  for (const auto& [name, numbers] : table.columns) {
    sample.with({name, std::accumulate(numbers.begin(), numbers.end(), 0.0)});
  }
  return sample;
}

Samples pairs(const Table& table, const std::string& column, int shortest, int longest,
              int against) {
  const std::vector<int>& numbers = column_of(table, column);
  Samples samples;
  for (std::size_t k = 1; k < table.lengths.size(); ++k) {
    if (table.lengths[k] < shortest || table.lengths[k] > longest) continue;
    const std::size_t other = against == 0
                                  ? k - 1
                                  : std::find(table.lengths.begin(), table.lengths.end(), against) -
                                        table.lengths.begin();
    samples.push_back({{"T before", static_cast<double>(table.lengths.at(other))},
                       printed("before", numbers.at(other)),
                       {"T", static_cast<double>(table.lengths[k])},
                       printed("here", numbers[k])});
  }
  return samples;
}

Statement below(const std::string& smaller, const std::vector<std::string>& larger) {
  return apart(1.0, smaller, larger);
}

Statement above(const std::string& larger, const std::vector<std::string>& smaller) {
  return apart(-1.0, larger, smaller);
}

Statement between(const std::string& lower, const std::string& value, const std::string& upper) {
  return at_least_zero([=]<class R>(const Inputs<R>& in) {
    return std::vector<Placed<R>>{{in.number(value) - in.number(lower), value + " - " + lower},
                                  {in.number(upper) - in.number(value), upper + " - " + value}};
  });
}

Statement product(const std::vector<std::string>& factors, const std::string& product) {
  return equals_zero([=]<class R>(const Inputs<R>& in) {
    R value(1.0);
    for (const std::string& factor : factors) value = value * in.number(factor);
    return value - in.number(product);
  });
}

Statement total(const std::vector<std::string>& terms, const std::string& total) {
  return equals_zero([=]<class R>(const Inputs<R>& in) {
    R value(0.0);
    for (const std::string& term : terms) value += in.number(term);
    return value - in.number(total);
  });
}

}  // namespace plumbline::proofs_checks
