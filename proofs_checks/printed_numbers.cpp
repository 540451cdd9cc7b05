// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/printed_numbers.hpp"

#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks {
namespace {

struct Product {
  static constexpr Relation relation = Relation::equals_zero;
  std::vector<std::string> factors;
  std::string product;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    R value(1.0);
    for (const std::string& factor : factors) value = value * in.number(factor);
    return {value - in.number(product)};
  }
};

struct Total {
  static constexpr Relation relation = Relation::equals_zero;
  std::vector<std::string> terms;
  std::string total;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    R value(0.0);
    for (const std::string& term : terms) value += in.number(term);
    return {value - in.number(total)};
  }
};

}  // namespace

std::vector<Check> products(Role role, const std::string& what, const std::vector<Sample>& samples,
                            const std::vector<std::string>& factors, const std::string& product) {
  return for_all(role, what, Product{factors, product}, samples);
}

std::vector<Check> totals(Role role, const std::string& what, const std::vector<Sample>& samples,
                          const std::vector<std::string>& terms, const std::string& total) {
  return for_all(role, what, Total{terms, total}, samples);
}

}  // namespace plumbline::proofs_checks
