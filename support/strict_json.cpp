// SPDX-License-Identifier: Apache-2.0
#include "support/strict_json.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline {

using nlohmann::json;

json parse_strict_json(std::string_view text, const std::string& what) {
  std::vector<std::set<std::string>> keys;  // of every object that is open
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        if (depth >= deepest_json) {
          throw BadInput(what, "nested too deeply", fmt::format("at most {} levels", deepest_json));
        }
        if (event == json::parse_event_t::object_start) keys.emplace_back();
        break;
      case json::parse_event_t::key:
        if (!keys.back().insert(parsed.get<std::string>()).second) {
          throw BadInput(what + ": key " + in_quotes(parsed.get<std::string>()), "given twice",
                         "each key once");
        }
        break;
      case json::parse_event_t::object_end:
        keys.pop_back();
        break;
      default:
        break;
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::parse_error& error) {
    throw BadInput(what, fmt::format("not JSON from byte {} on", error.byte), "JSON");
  } catch (const json::exception&) {
    throw BadInput(what, "JSON with a number that no double holds", "JSON");
  }
}

std::string shown(const json& value) {
  switch (value.type()) {
    case json::value_t::string:
      return in_quotes(value.get_ref<const std::string&>());
    case json::value_t::object:
      return "an object";
    case json::value_t::array:
      if (value.size() > 8) return fmt::format("an array of {}", value.size());
      for (const json& element : value) {
        if (!element.is_number()) return "an array of other things than numbers";
      }
      [[fallthrough]];
    default:
      return value.dump();
  }
}

Fields::Fields(const json& object, std::string what) : object_(object), what_(std::move(what)) {
  if (!object.is_object()) throw BadInput(what_, shown(object), "a JSON object");
}

const json* Fields::any(const char* name) {
  known_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

std::optional<bool> Fields::boolean(const char* name) {
  const json* value = any(name);
  if (!value) return {};
  if (!value->is_boolean()) throw BadInput(place(name), shown(*value), "true or false");
  return value->get<bool>();
}

std::optional<std::int64_t> Fields::integer(const char* name, std::int64_t lowest,
                                            std::int64_t highest) {
  const json* value = any(name);
  if (!value) return {};
  // Both tests: an unsigned number above 2^63 would turn negative on its way to int64.
  const bool whole = value->is_number_integer() &&
                     !(value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX);
  if (!whole || value->get<std::int64_t>() < lowest || value->get<std::int64_t>() > highest) {
    throw BadInput(place(name), shown(*value),
                   lowest == highest
                       ? std::to_string(lowest)
                       : fmt::format("a whole number from {} to {}", lowest, highest));
  }
  return value->get<std::int64_t>();
}

std::optional<double> Fields::number(const char* name) {
  const json* value = any(name);
  if (!value) return {};
  if (!value->is_number()) throw BadInput(place(name), shown(*value), "a number");
  return value->get<double>();
}

std::optional<std::string> Fields::text(const char* name) {
  const json* value = any(name);
  if (!value) return {};
  if (!value->is_string()) throw BadInput(place(name), shown(*value), "a text");
  return value->get<std::string>();
}

void Fields::missing(const char* name) const { throw BadInput(place(name), "missing", "a value"); }

void Fields::finish() const {
  for (const auto& [name, value] : object_.items()) {
    if (known_.contains(name)) continue;
    throw BadInput(what_ + ": field " + in_quotes(name), "unknown",
                   fmt::format("one of {}", fmt::join(known_, ", ")));
  }
}

}  // namespace plumbline
