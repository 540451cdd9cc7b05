// SPDX-License-Identifier: Apache-2.0
// JSON from outside: bounded, no key twice, no field that nobody reads.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace plumbline {

/// Deepest nesting that a file of ours has is 3: header, tensor, shape.
inline constexpr int deepest_json = 8;

/// @throws BadInput naming `what` if the text is not JSON, nests deeper than `deepest_json`, or has
/// a key twice in one object (JSON leaves open which one counts, so two readers could differ).
nlohmann::json parse_strict_json(std::string_view text, const std::string& what);

/// The value's type and, where it is short, the value: for error messages.
std::string shown(const nlohmann::json&);

/// Reads an object field by field. Each getter returns nothing when the field is missing and throws
/// BadInput when it has another type; `finish` throws BadInput when a field is left over.
class Fields {
 public:
  /// @throws BadInput if `object` is not a JSON object.
  Fields(const nlohmann::json& object, std::string what);

  std::optional<bool> boolean(const char* name);
  std::optional<std::int64_t> integer(const char* name, std::int64_t lowest, std::int64_t highest);
  std::optional<double> number(const char* name);
  std::optional<std::string> text(const char* name);
  const nlohmann::json* any(const char* name);

  /// @throws BadInput if the field is missing.
  template <class T>
  T required(std::optional<T> value, const char* name) const {
    if (!value) missing(name);
    return *std::move(value);
  }
  void finish() const;

  /// "what: field", for messages about the field.
  std::string place(const char* name) const { return what_ + ": " + name; }

 private:
  [[noreturn]] void missing(const char* name) const;

  const nlohmann::json& object_;
  std::string what_;
  std::set<std::string> known_;
};

}  // namespace plumbline
