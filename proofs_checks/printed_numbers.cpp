// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/printed_numbers.hpp"

#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks {

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
