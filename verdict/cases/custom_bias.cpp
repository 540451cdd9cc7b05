// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/custom_bias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/strict_json.hpp"
#include "support/text.hpp"
#include "verdict/cases/formula_text.hpp"

namespace plumbline::cases {
namespace {

using methods::Extent;
using Per = reference::Formula::Per;
using nlohmann::json;

constexpr std::size_t longest_name = 40;

struct PerInfo {
  std::string_view name;
  Per per;
  methods::List<Extent, 4> shape;
};
const std::array per_infos{
    PerInfo{"all", Per::all, {Extent::one}},
    PerInfo{"head", Per::head, {Extent::heads}},
    PerInfo{"query", Per::query, {Extent::batch, Extent::heads, Extent::queries}},
    PerInfo{"key", Per::key, {Extent::batch, Extent::heads, Extent::keys}},
    PerInfo{"sequence", Per::sequence, {Extent::batch}},
    PerInfo{"prefix_sum", Per::prefix_sum, {Extent::batch, Extent::heads, Extent::keys}},
};

bool is_name(std::string_view text, std::string_view letters) {
  return !text.empty() && text.size() <= longest_name && !(text[0] >= '0' && text[0] <= '9') &&
         text.find_first_not_of(letters) == std::string_view::npos;
}

constexpr std::string_view small = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr std::string_view any_case =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/// What the formula, a case file and a Python function call otherwise.
bool is_taken(const std::string& name) {
  static const std::set<std::string> taken{"i",
                                           "j",
                                           "h",
                                           "q",
                                           "k",
                                           "v",
                                           "o",
                                           "lse",
                                           "q_scale",
                                           "k_scale",
                                           "v_scale",
                                           "causal",
                                           "window",
                                           "lengths",
                                           "documents",
                                           "scale",
                                           "softcap",
                                           "ssmax_scale",
                                           "sinks",
                                           "pages",
                                           "pass",
                                           "variation",
                                           "query_offset",
                                           "queries_at_end",
                                           "mask",
                                           "keep",
                                           "dropout_p",
                                           "dropout_seed",
                                           "dropout_offset",
                                           "rotary_dim",
                                           "page_table",
                                           "prefix_sums",
                                           "cu_seqlens_q",
                                           "cu_seqlens_k",
                                           "max_seqlen_q",
                                           "max_seqlen_k"};
  return taken.count(name) > 0 || name.starts_with("grad_") || is_formula_function(name);
}

/// A finite number that a float holds.
float number_of(const json& value, const std::string& field) {
  if (!value.is_number() || !(std::fabs(value.get<double>()) <= 0x1p127)) {
    throw BadInput(field, shown(value), "a number of at most 2^127");
  }
  return static_cast<float>(value.get<double>());
}

methods::Parameter row_of(Fields& fields, CustomParameter& parameter, const PerInfo& per,
                          std::size_t& numbered, const std::string& what) {
  methods::Parameter row{.shape = per.shape};
  if (per.per == Per::prefix_sum) {
    row.id = PLUMBLINE_INCREMENTS;
  } else if (numbered < methods::most_custom_parameters) {
    row.id = static_cast<plumbline_parameter>(PLUMBLINE_CUSTOM_0 + numbered++);
  } else {
    throw BadInput(what, "one more",
                   fmt::format("at most {} beside a prefix sum", methods::most_custom_parameters));
  }
  parameter.id = row.id;
  const json* uniform = fields.any("uniform");
  const json* whole = fields.any("whole");
  const json* normal = fields.any("normal");
  if ((uniform != nullptr) + (whole != nullptr) + (normal != nullptr) != 1) {
    throw BadInput(
        what, uniform || whole || normal ? "with two distributions" : "without a distribution",
        "one of \"uniform\": [least, most], \"whole\": [least, most] and \"normal\": its "
        "standard deviation");
  }
  if (normal) {
    const std::string field = fields.place("normal");
    row.draw = {methods::Draw::normal, number_of(*normal, field)};
    if (!(row.draw.a > 0)) throw BadInput(field, shown(*normal), "a number above 0");
  } else {
    const json& range = uniform ? *uniform : *whole;
    const std::string field = fields.place(uniform ? "uniform" : "whole");
    if (!range.is_array() || range.size() != 2) {
      throw BadInput(field, shown(range), "[least, most]");
    }
    row.draw = {uniform ? methods::Draw::uniform : methods::Draw::whole, number_of(range[0], field),
                number_of(range[1], field)};
    if (!(row.draw.a < row.draw.b)) {
      throw BadInput(field, range.dump(), "[least, most] with least below most");
    }
  }
  if (per.per == Per::prefix_sum && !(uniform && row.draw.a >= 0)) {
    throw BadInput(what, "a prefix sum of numbers below 0",
                   "\"uniform\": [least, most] with least at least 0");
  }
  return row;
}

/// @param visible empty: none.
void read_parameters(CustomBias& custom, const json& list, const std::string& what,
                     const std::string& visible) {
  const std::string field = what + ": parameters";
  if (!list.is_array()) throw BadInput(field, shown(list), "a list of parameters");
  std::size_t numbered = 0;
  std::vector<FormulaName> names;
  for (std::size_t n = 0; n < list.size(); ++n) {
    const std::string what = fmt::format("{}[{}]", field, n);
    Fields fields(list[n], what);
    CustomParameter parameter;
    parameter.name = fields.required(fields.text("name"), "name");
    if (!is_name(parameter.name, any_case) || is_taken(parameter.name)) {
      throw BadInput(fields.place("name"), in_quotes(parameter.name),
                     fmt::format("up to {} letters, digits and _, no digit first, and not a name "
                                 "that formulas, files or calls have already",
                                 longest_name));
    }
    if (std::ranges::any_of(names, [&](const auto& name) { return name.name == parameter.name; })) {
      throw BadInput(fields.place("name"), in_quotes(parameter.name), "each name once");
    }
    const std::string per = fields.required(fields.text("per"), "per");
    const auto info = std::ranges::find(per_infos, per, &PerInfo::name);
    if (info == per_infos.end()) {
      throw BadInput(fields.place("per"), in_quotes(per),
                     "one of all, head, query, key, sequence, prefix_sum");
    }
    parameter.per = info->per;
    if (info->per == Per::prefix_sum && std::ranges::any_of(custom.declared, [](const auto& p) {
          return p.per == Per::prefix_sum;
        })) {
      throw BadInput(fields.place("per"), "prefix_sum for the second time", "at most one of them");
    }
    custom.parameters.add(row_of(fields, parameter, *info, numbered, what));
    fields.finish();
    names.push_back(
        {parameter.name, info->per == Per::query || info->per == Per::key, info->per == Per::key});
    custom.declared.push_back(std::move(parameter));
  }
  const auto formula = [&](const std::string& text, const std::string& of, FormulaKind kind) {
    reference::Formula read = formula_from(text, names, of, kind);
    for (const auto& parameter : custom.declared) read.parameters.push_back(parameter.per);
    return read;
  };
  custom.expression = formula(custom.text, what + ": formula", FormulaKind::bias);
  if (!visible.empty())
    custom.visible = formula(visible, what + ": visible", FormulaKind::condition);
  for (std::size_t n = 0; n < custom.declared.size(); ++n) {
    const std::string what = fmt::format("{}[{}]", field, n), name = custom.declared[n].name;
    const auto is_read = [&](const reference::Formula& by) {
      return std::ranges::any_of(by.nodes, [&](const auto& node) {
        return node.op == reference::Formula::Op::parameter &&
               node.parameter == static_cast<int>(n);
      });
    };
    custom.parameters.items.at(n).has_gradient = is_read(custom.expression);
    const bool decides = custom.visible && is_read(*custom.visible);
    if (!decides && !is_read(custom.expression)) {
      throw BadInput(what, in_quotes(name), "a parameter that the formula reads");
    }
    const Per per = custom.declared[n].per;
    if (decides && per != Per::all && per != Per::sequence) {
      throw BadInput(what, in_quotes(name) + " in visible",
                     "one for all or for each sequence: all heads see the same keys");
    }
  }
}

/// But for the row's pointers to its texts.
CustomBias custom_from(const json& declaration, const std::string& what) {
  CustomBias custom;
  custom.bias = PLUMBLINE_CUSTOM;
  custom.source = "the declaration of a custom bias";
  custom.kind = methods::Kind::positions;
  custom.in_models = false;
  custom.declaration = declaration;
  Fields fields(declaration, what);
  std::string& name = custom.names[0];
  name = fields.text("name").value_or("custom");
  const bool is_method =
      std::ranges::any_of(methods::all, [&](const auto& method) { return name == method.name; });
  if (!is_name(name, small) || is_method || name.starts_with("dape_") ||
      name.starts_with("rope_") || name == "all") {
    throw BadInput(fields.place("name"), in_quotes(name),
                   fmt::format("up to {} small letters, digits and _, no digit first, and not the "
                               "name of a method",
                               longest_name));
  }
  custom.text = fields.required(fields.text("formula"), "formula");
  const std::string visible = fields.text("visible").value_or("");
  const json none = json::array();
  const json* parameters = fields.any("parameters");
  custom.error_factor = fields.number("error_factor").value_or(1);
  if (!(custom.error_factor >= 1 && custom.error_factor <= 0x1p20)) {
    throw BadInput(fields.place("error_factor"), fmt::format("{}", custom.error_factor),
                   "a number from 1 to 2^20");
  }
  fields.finish();
  read_parameters(custom, parameters ? *parameters : none, what, visible);
  return custom;
}

methods::Bias bias_of(const CustomBias& custom, int rope) {
  methods::Bias bias(PLUMBLINE_CUSTOM, 0, static_cast<plumbline_rope>(rope));
  bias.custom = &custom;
  return bias;
}

class Registry {
 public:
  methods::Bias declare(CustomBias given) {
    const std::scoped_lock lock(mutex_);
    const auto known = std::ranges::find(declared_, given.declaration, &CustomBias::declaration);
    CustomBias& custom = known != declared_.end() ? *known : add(std::move(given));
    last_[custom.names[0]] = &custom;
    return bias_of(custom, PLUMBLINE_NO_ROPE);
  }

  std::optional<methods::Bias> find(std::string_view name) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [last, custom] : last_) {
      const auto found = std::ranges::find(custom->names, name);
      if (found != custom->names.end()) {
        return bias_of(*custom, static_cast<int>(found - custom->names.begin()));
      }
    }
    return std::nullopt;
  }

 private:
  CustomBias& add(CustomBias given) {
    CustomBias& custom = declared_.emplace_back(std::move(given));
    custom.name = custom.names[0].c_str();
    custom.formula = custom.text.c_str();
    for (std::size_t n = 0; n < custom.declared.size(); ++n) {
      custom.parameters.items.at(n).name = custom.declared[n].name.c_str();
    }
    for (int rope = 1; rope < PLUMBLINE_ROPE_COUNT; ++rope) {
      custom.names.at(static_cast<std::size_t>(rope)) = methods::name_of(bias_of(custom, rope));
    }
    return custom;
  }

  mutable std::mutex mutex_;
  std::deque<CustomBias> declared_;  // never moved, never taken away
  std::map<std::string, const CustomBias*> last_;
};

Registry& registry() {
  static Registry all;
  return all;
}

}  // namespace

methods::Bias declare_custom_bias(const json& declaration, const std::string& what) {
  return registry().declare(custom_from(declaration, what));
}

methods::Bias declare_custom_bias_of_file(const std::string& path) {
  try {
    return declare_custom_bias(parse_strict_json(read_file(path), "bias"), "bias");
  } catch (const BadInput& error) {
    throw BadInput(path, error);
  }
}

std::optional<methods::Bias> find_custom_bias(std::string_view name) {
  return registry().find(name);
}

}  // namespace plumbline::cases
