// SPDX-License-Identifier: Apache-2.0
#include "bias/table_rows.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "bias/of_head.cuh"
#include "methods.hpp"

namespace plumbline::gpu {

namespace {

/// A natural number, 32 bits a digit, least first, no leading zeros.
using Natural = std::vector<std::uint32_t>;

/// base^exponent * other_base^other_exponent.
Natural power_product(int base, int exponent, int other_base, int other_exponent) {
  Natural product{1};
  const auto multiply = [&](int factor) {
    std::uint64_t carry = 0;
    for (std::uint32_t& digit : product) {
      carry += static_cast<std::uint64_t>(digit) * static_cast<std::uint32_t>(factor);
      digit = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) product.push_back(static_cast<std::uint32_t>(carry));
    if (factor == 0) product.clear();
  };
  for (int n = 0; n < exponent; ++n) multiply(base);
  for (int n = 0; n < other_exponent; ++n) multiply(other_base);
  return product;
}

bool less(const Natural& a, const Natural& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

/// d^K >= D^k E^(K-k), where the logarithms of both sides leave no doubt by them.
bool reaches(int d, int D, int E, int k, int K) {
  const double left = K * std::log(d), right = k * std::log(D) + (K - k) * std::log(E);
  // Three logarithms and three roundings: each within 2^-51 of the larger side.
  if (std::abs(left - right) > 0x1p-48 * (left + right)) return left > right;
  return !less(power_product(d, K, 1, 0), power_product(D, k, E, K - k));
}

/// T5's bucket of a distance >= 0, `borders` as t5_bucket_borders has them.
int t5_bucket(const std::vector<int>& borders, int buckets, int distance) {
  if (distance < borders.front()) return distance;
  const auto passed = std::upper_bound(borders.begin(), borders.end(), distance) - borders.begin();
  return buckets / 2 - 1 + static_cast<int>(passed);
}

}  // namespace

namespace {

/// What the rows of a head's table stand for.
methods::Extent rows_extent(const plumbline_problem& problem) {
  return methods::parameter_of(methods::row(problem.bias), PLUMBLINE_TABLE).shape.items[1];
}

}  // namespace

bool uses_table(int bias) {
  return methods::is_method(bias) && methods::row(bias).reads(PLUMBLINE_TABLE);
}

int table_rows(const plumbline_problem& problem) {
  if (!uses_table(problem.bias)) return 0;
  return static_cast<int>(methods::size_of(rows_extent(problem), methods::row(problem.bias),
                                           {.options = problem.options}));
}

std::vector<int> t5_bucket_borders(int buckets, int max_distance) {
  const int exact = buckets / 2, logarithmic = buckets - exact;
  std::vector<int> borders;
  for (int k = 0; k < logarithmic; ++k) {
    int low = exact, high = max_distance;  // where it holds for every k <= K
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (reaches(middle, max_distance, exact, k, logarithmic))
        high = middle;
      else
        low = middle + 1;
    }
    borders.push_back(low);
  }
  return borders;
}

namespace {

template <class Form>
std::vector<float> terms_of(int keys) {
  std::vector<float> terms;
  if constexpr (requires { Form::term(0); }) {
    for (int distance = 0; distance < keys; ++distance)
      terms.push_back(static_cast<float>(Form::term(distance)));
  }
  return terms;
}

}  // namespace

std::vector<float> distance_terms(int bias, int keys) {
  switch (bias) {
#define PLUMBLINE_TERMS(number, Form) \
  case PLUMBLINE_##number:            \
    return terms_of<Form>(keys);
    PLUMBLINE_FORMS(PLUMBLINE_TERMS)
#undef PLUMBLINE_TERMS
  }
  return {};
}

std::vector<int> table_row_of_offset(const plumbline_problem& problem) {
  const bool bidirectional = problem.bias == PLUMBLINE_T5_BIDIRECTIONAL;
  const methods::Extent of_table = rows_extent(problem);
  const bool bucketed = of_table == methods::Extent::buckets;
  const int rows = table_rows(problem), direction = bidirectional ? rows / 2 : rows;
  const auto largest = static_cast<int>(problem.options[PLUMBLINE_LARGEST]);
  const std::vector<int> borders =
      bucketed
          ? t5_bucket_borders(direction, static_cast<int>(problem.options[PLUMBLINE_MAX_DISTANCE]))
          : std::vector<int>{};
  const auto row = [&](int offset) {
    if (bidirectional)
      return t5_bucket(borders, direction, std::abs(offset)) + (offset < 0 ? direction : 0);
    switch (of_table) {
      case methods::Extent::buckets:
        return t5_bucket(borders, direction, std::max(offset, 0));
      case methods::Extent::distances:
        return std::clamp(offset, 0, largest);
      case methods::Extent::signed_distances:
        return largest + std::clamp(offset, -largest, largest);
      default:
        throw std::logic_error("a table without rows for offsets");
    }
  };
  std::vector<int> rows_of;
  for (int offset = 1 - problem.keys; offset < problem.keys; ++offset)
    rows_of.push_back(row(offset));
  return rows_of;
}

}  // namespace plumbline::gpu
