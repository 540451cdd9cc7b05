// SPDX-License-Identifier: Apache-2.0
// Behind the C interface (plumbline_native.h): its functions, and what crosses it: arguments,
// arrays, and what owns memory.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/native/plumbline_native.h"
#include "verdict/cases/spec.hpp"

namespace plumbline::python {

using Json = nlohmann::ordered_json;

/// By name: what answers the arguments.
using Functions = std::map<std::string, Json (*)(const Json& arguments, plumbline_native_ask ask)>;

/// That of "custom", a declaration or null, or else of the name in `field`. @throws BadInput.
cases::Bias bias_of(const Json& arguments, const char* field);

/// `attention` and `alibi_slopes`.
Functions oracle_functions();
/// `check`, `case_arrays`, `declare_custom_bias`, `methods` and `named_contract`.
Functions check_functions();
/// Those of the class Device, and `variations`, `profile_report` and `registers_in`.
Functions device_functions();

/// What the device throws, as {"type": Fault, Refused or BadPtx of plumbline.device, "arguments":
/// [...]}; null for anything else.
Json device_error(const std::exception& error);

/// An argument of another type: Python's TypeError.
class WrongType : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @throws WrongType unless the argument is there and of this type; a number is never rounded.
template <class T>
T argument(const Json& arguments, const char* name) {
  const auto found = arguments.find(name);
  if (found == arguments.end()) throw WrongType(std::string(name) + " is missing");
  try {
    bool fits = true;
    if constexpr (std::is_same_v<T, bool>) {
      fits = found->is_boolean();
    } else if constexpr (std::is_integral_v<T>) {
      fits = found->is_number_integer() && *found == Json(found->get<T>()) &&
             (std::is_signed_v<T> || found->is_number_unsigned());
    } else if constexpr (std::is_floating_point_v<T>) {
      fits = found->is_number();
    }
    if (fits) return found->get<T>();
  } catch (const Json::type_error&) {
  }
  const char* expected = std::is_same_v<T, bool>          ? "true or false"
                         : std::is_integral_v<T>          ? "a whole number in range"
                         : std::is_floating_point_v<T>    ? "a number"
                         : std::is_same_v<T, std::string> ? "a string"
                                                          : "a list or an object";
  throw WrongType(std::string(name) + " is " + found->dump().substr(0, 80) + "; expected " +
                  expected);
}

/// Where the numbers of an array of the caller's are.
template <class T>
const T* address_of(const Json& array) {
  return reinterpret_cast<const T*>(argument<std::uint64_t>(array, "address"));
}

/// As the number that plumbline_native_release() takes.
inline Json owner(std::shared_ptr<void> kept) {
  return reinterpret_cast<std::uint64_t>(new std::shared_ptr<void>(std::move(kept)));
}

/// An array for Python. @param type as NumPy's array interface spells it
template <class Shape>
Json array(std::shared_ptr<void> kept, const void* memory, const char* type, const Shape& shape) {
  return {{"address", reinterpret_cast<std::uint64_t>(memory)},
          {"shape", shape},
          {"type", type},
          {"owner", owner(std::move(kept))}};
}

/// The same of these numbers.
template <class T, class Shape>
Json array(std::vector<T> numbers, const char* type, const Shape& shape) {
  auto kept = std::make_shared<std::vector<T>>(std::move(numbers));
  const void* memory = kept->data();
  return array(std::move(kept), memory, type, shape);
}

}  // namespace plumbline::python
