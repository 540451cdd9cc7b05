// SPDX-License-Identifier: Apache-2.0
#include "python/native/check.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "python/native/callable_kernel.hpp"
#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/named_contracts.hpp"
#include "verdict/conventions/name_conventions.hpp"
#include "verdict/property/spec_generator.hpp"
#include "verdict/report/report.hpp"

namespace plumbline::python {
namespace {

namespace nb = nanobind;
using nlohmann::ordered_json;

/// Ends a check from its progress report.
struct Interrupted {};

plumbline_option option_from(const std::string& name, cases::Bias bias) {
  std::string known;
  for (const plumbline_option option : cases::options_of(bias)) {
    if (cases::info(option).name == name) return option;
    known += (known.empty() ? "" : ", ") + std::string(cases::info(option).name);
  }
  throw BadInput("options", in_quotes(name),
                 known.empty() ? "none: " + std::string(cases::name(bias)) + " has no options"
                               : "some of " + known);
}

Takes takes_from(const nb::dict& offered, cases::Bias bias) {
  Takes takes;
  const auto flag = [&](const char* name) { return nb::cast<bool>(offered[name]); };
  if (!offered["causal"].is_none()) takes.causal = flag("causal");
  takes.window = flag("window");
  takes.lengths = flag("lengths");
  takes.documents = flag("documents");
  takes.ssmax = flag("ssmax");
  takes.grouped_heads = flag("grouped_heads");
  takes.query_offset = flag("query_offset");
  takes.scale = flag("scale");
  takes.softcap = flag("softcap");
  takes.own_softcap = nb::cast<double>(offered["own_softcap"]);
  for (const auto& [name, value] : nb::cast<std::map<std::string, double>>(offered["options"])) {
    takes.options[option_from(name, bias)] = value;
  }
  return takes;
}

verdict::Shapes shapes_from(const nb::dict& offered) {
  const auto sizes = [&](const char* name) { return nb::cast<std::vector<int>>(offered[name]); };
  verdict::Shapes shapes;
  shapes.batch = sizes("batch");
  shapes.heads = sizes("heads");
  shapes.kv_heads = sizes("kv_heads");
  shapes.queries = sizes("queries");
  shapes.keys = sizes("keys");
  shapes.head_dims = sizes("head_dims");
  if (const auto softcap = nb::cast<double>(offered["own_softcap"])) shapes.softcaps = {softcap};
  shapes.longest = nb::cast<int>(offered["longest"]);
  for (const auto& shape : nb::cast<std::vector<std::vector<int>>>(offered["shapes"])) {
    std::copy_n(shape.begin(), 6, shapes.whole.emplace_back().begin());
  }
  shapes.validate();
  return shapes;
}

/// The spec of a repro line. @throws BadInput where it is none, or of something else.
cases::Spec spec_from(const std::string& line, cases::Pass pass, cases::Bias bias,
                      cases::Format format) {
  const cases::Spec spec = cases::from_line(line);
  const auto require = [](const char* field, std::string_view got, std::string_view expected) {
    if (got != expected) {
      throw BadInput(std::string("case: ") + field, in_quotes(got),
                     in_quotes(expected) + ", as the other arguments say");
    }
  };
  require("pass", cases::name(spec.pass), cases::name(pass));
  require("bias", cases::name(spec.bias), cases::name(bias));
  require("dtype", cases::name(spec.format), cases::name(format));
  return spec;
}

/// The contract of a known implementation, as JSON. @throws BadInput.
std::string named_contract(const std::string& name, const std::string& format_name) {
  const auto format = cases::format_from(format_name, "dtype");
  return cases::to_json(cases::contract_named(name, format, "contract")).dump();
}

/// What a case has that the function does not take.
std::string what_is_not_taken(const Takes& takes, const cases::Spec& spec) {
  if (takes.causal && *takes.causal != spec.mask.causal) {
    return fmt::format("causal={:d}", spec.mask.causal);
  }
  if (!takes.window && spec.mask.window) return "window";
  if (!takes.lengths && spec.mask.ragged) return "ragged (lengths)";
  if (!takes.documents && spec.mask.documents) return "documents";
  if (!takes.ssmax && spec.ssmax) return "ssmax";
  if (!takes.grouped_heads && spec.heads != spec.kv_heads) return "fewer kv_heads than heads";
  if (!takes.query_offset && spec.queries != spec.keys) return "fewer queries than keys";
  if (!takes.scale && spec.scale != 0) return "scale";
  if (!takes.softcap && spec.softcap != takes.own_softcap) return "softcap";
  return "other options of the bias";
}

/// (the report as JSON, what a failure says, the exception of the function that the failing case
/// ended with). @throws BadInput, also where no case can be drawn; what interrupted the check.
nb::tuple check(const nb::object& call, const nb::object& refusal, const std::string& name,
                const std::string& pass_name, const std::string& bias_name,
                const std::string& format_name, const nb::dict& offered,
                const std::string& contract, int cases, std::uint64_t seed, int threads,
                bool deterministic, const std::string& case_line, bool shrink, double time_limit,
                const nb::object& progress) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto pass = cases::pass_from(pass_name, "pass");
  const auto bias = cases::bias_from(bias_name, "bias");
  const auto format = cases::format_from(format_name, "dtype");
  const verdict::Shapes shapes = shapes_from(offered);
  CallableKernel callable(call, refusal, name, takes_from(offered, bias),
                          cases::contract_from(nlohmann::json::parse(contract), "contract"),
                          pass == cases::Pass::backward, deterministic);
  const verdict::Kernel kernel(callable.kernel(), std::make_shared<OnVariations>(callable));
  if (threads == 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto case_done = [&](int done) {
    const nb::gil_scoped_acquire for_python;
    callable.look_for_signals();
    if (callable.interrupted()) throw Interrupted{};
    if (!progress.is_none()) progress(done, cases);
  };
  verdict::Draws draws{shapes, {}};
  if (!shrink) draws.most_smaller = 0;
  draws.time_is_up = [&] { return time_limit > 0 && seconds() > time_limit; };
  if (case_line.empty()) {
    draws.offer = verdict::offer_of(kernel, pass, bias, format, shapes);
    if (draws.offer.empty()) {
      throw BadInput("what the function takes", "too narrow: no case that is drawn has it all",
                     "other sizes (head_dims, keys, heads, ...), options or settings");
    }
  }
  verdict::VerifyReport report;
  report.library = report.artifact = name;
  report.device = "Python";
  report.seed = seed;
  try {
    const nb::gil_scoped_release while_judging;
    report.cells = {
        case_line.empty()
            ? verdict::check_cell(kernel, pass, bias, format, cases, seed, threads, case_done, {},
                                  draws)
            : verdict::check_spec(kernel, spec_from(case_line, pass, bias, format), threads)};
    verdict::name_conventions(kernel, report.cells.front(), threads);
  } catch (const Interrupted&) {
  }
  if (callable.interrupted()) callable.raise_interruption();
  const verdict::CellResult& cell = report.cells.front();
  if (!cell.supported) {
    throw BadInput("case", in_quotes(case_line, 400),
                   "one without " +
                       what_is_not_taken(takes_from(offered, bias), cases::from_line(case_line)) +
                       ", which the other arguments say that the function does not take");
  }
  report.seconds = seconds();
  std::string words;
  nb::object cause = nb::none();
  if (cell.counterexample) {
    words = verdict::describe(cell.counterexample->judgement);
    for (const auto& what : cell.counterexample->separates) words += fmt::format("  {}\n", what);
    if (cell.counterexample->judgement.kind == kernel_process::failure_kind::exception) {
      cause = callable.last_exception();
    }
  }
  return nb::make_tuple(verdict::to_json(report).dump(), words, cause);
}

/// The numbers of a case as {"q": (bytes, shape), ...}, floats but for lengths and documents.
nb::dict case_arrays(const std::string& line) {
  const cases::Case c = cases::generate(cases::from_line(line));
  nb::dict arrays;
  const auto add = [&](const std::string& name, const auto& values, const cases::Shape& shape) {
    if (values.empty()) return;
    nb::list sizes;
    for (const auto size : shape) sizes.append(size);
    arrays[name.c_str()] =
        nb::make_tuple(nb::bytes(values.data(), values.size() * sizeof values[0]), sizes);
  };
  const auto stored = [&](const std::vector<float>& numbers, const std::vector<float>& scales) {
    return cases::unscaled(numbers, scales, c.spec.format);
  };
  add("q", stored(c.q, c.q_scale), cases::query_shape(c.spec));
  add("k", stored(c.k, c.k_scale), cases::key_shape(c.spec));
  add("v", stored(c.v, c.v_scale), cases::key_shape(c.spec));
  add("q_scale", c.q_scale, cases::per_key_head(c.spec));
  add("k_scale", c.k_scale, cases::per_key_head(c.spec));
  add("v_scale", c.v_scale, cases::per_key_head(c.spec));
  add("grad_o", c.grad_o, cases::query_shape(c.spec));
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (!cases::reads(c.spec, parameter)) continue;
    add(cases::info(parameter).name, c[parameter], cases::shape_of(c.spec, c.options, parameter));
  }
  add("lengths", c.lengths, {c.spec.batch});
  add("documents", c.documents, {c.spec.batch, c.spec.keys});
  return arrays;
}

/// Of every method that can be checked its name, formula, source, parameters with their shapes,
/// those with a gradient, and options with whether they are whole.
std::string methods() {
  ordered_json all = ordered_json::array();
  for (const auto bias : cases::every_bias()) {
    cases::Spec spec;
    spec.bias = bias;
    ordered_json parameters = ordered_json::array(), gradients = ordered_json::array(),
                 options = ordered_json::object(), shapes = ordered_json::object(),
                 whole = ordered_json::object();
    const methods::Method method = methods::of(bias);
    for (const methods::Parameter& parameter : method.parameters) {
      shapes[cases::info(parameter.id).name] = methods::in_words(parameter);
    }
    for (const auto parameter : cases::parameters_of(bias)) {
      parameters.push_back(cases::info(parameter).name);
      if (cases::has_gradient(spec, parameter)) gradients.push_back(cases::info(parameter).name);
    }
    const auto defaults = cases::default_options(bias);
    for (const auto option : cases::options_of(bias)) {
      options[cases::info(option).name] = defaults[option];
      whole[cases::info(option).name] = cases::info(option).whole;
    }
    all.push_back({{"name", cases::name(bias)},
                   {"formula", methods::formula_of(bias)},
                   {"source", methods::source_of(bias)},
                   {"parameters", parameters},
                   {"shapes", shapes},
                   {"gradients", gradients},
                   {"options", options},
                   {"whole", whole}});
  }
  return all.dump();
}

}  // namespace

void bind_check(nb::module_& module) {
  module.def("check", &check, nb::arg("call"), nb::arg("refusal"), nb::arg("name"),
             nb::arg("pass_"), nb::arg("bias"), nb::arg("dtype"), nb::arg("offer"),
             nb::arg("contract"), nb::arg("cases"), nb::arg("seed"), nb::arg("threads"),
             nb::arg("deterministic"), nb::arg("case"), nb::arg("shrink"), nb::arg("time_limit"),
             nb::arg("progress").none());
  module.def("case_arrays", &case_arrays, nb::arg("line"));
  module.def("methods", &methods);
  module.def("named_contract", &named_contract, nb::arg("name"), nb::arg("format"));
}

}  // namespace plumbline::python
