// SPDX-License-Identifier: Apache-2.0
// What a planted header (plant.cpp) calls: its expressions pass through here, and one of them comes
// back with the wrong sign.
#pragma once

#include <Eigen/Core>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/scalars/double.hpp"

namespace plumbline::adjoint_mutants {

/// A place where a sign can be wrong. `holds_number` is false where what stands there is an index,
/// a struct or a place to write to: it has no sign.
struct Site {
  int line;
  const char* code;
  bool reached = false;
  bool holds_number = false;
};

class PlantedHeader {
 public:
  PlantedHeader(const char* name, std::vector<Site> sites) : name(name), sites(std::move(sites)) {
    all().push_back(this);
  }

  static std::vector<PlantedHeader*>& all() {
    static std::vector<PlantedHeader*> headers;
    return headers;
  }

  std::string name;
  std::vector<Site> sites;
  int wrong = -1;  ///< the site whose sign is wrong, if any
};

template <class T>
concept NumberOrArray = reference::Real<T> ||(std::derived_from<T, Eigen::DenseBase<T>>&& requires {
  requires reference::Real<typename T::Scalar>;
});

template <class T>
auto evaluated(const T& x) {
  if constexpr (reference::Real<T>) {
    return x;
  } else {
    return x.eval();
  }
}

/// x, or -x if this site is the wrong one.
template <class T>
decltype(auto) planted(PlantedHeader& header, int number, T&& x) {
  Site& site = header.sites[number];
  site.reached = true;
  if constexpr (NumberOrArray<std::remove_cvref_t<T>>) {
    site.holds_number = true;
    auto value = evaluated(x);
    if (header.wrong == number) value = -value;
    return value;
  } else if constexpr (std::is_lvalue_reference_v<T>) {
    return (x);
  } else {
    return std::remove_cvref_t<T>(std::forward<T>(x));
  }
}

/// For what a function or an initialiser takes: a variable that it may write to stays one.
template <class T>
decltype(auto) planted_input(PlantedHeader& header, int number, T&& x) {
  if constexpr (std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>) {
    header.sites[number].reached = true;
    return (x);
  } else {
    return planted(header, number, std::forward<T>(x));
  }
}

}  // namespace plumbline::adjoint_mutants
