// SPDX-License-Identifier: Apache-2.0
#include "python/native/native.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "python/native/callable_kernel.hpp"
#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/custom_bias.hpp"
#include "verdict/cases/named_contracts.hpp"
#include "verdict/conventions/name_conventions.hpp"
#include "verdict/oracle/cache.hpp"
#include "verdict/property/spec_generator.hpp"
#include "verdict/report/report.hpp"

namespace plumbline::python {

cases::Bias bias_of(const Json& arguments, const char* field) {
  const Json& custom = arguments.at("custom");
  if (custom.is_null()) return cases::bias_from(argument<std::string>(arguments, field), field);
  return cases::declare_custom_bias(nlohmann::json::parse(custom.dump()), "Custom");
}

namespace {

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

Takes takes_from(const Json& offered, cases::Bias bias) {
  Takes takes;
  const auto flag = [&](const char* name) { return argument<bool>(offered, name); };
  if (!offered.at("causal").is_null()) takes.causal = flag("causal");
  takes.window = flag("window");
  takes.lengths = flag("lengths");
  takes.documents = flag("documents");
  takes.mask = flag("mask");
  takes.ssmax = flag("ssmax");
  takes.sinks = flag("sinks");
  takes.grouped_heads = flag("grouped_heads");
  takes.window_sides = flag("window_sides");
  takes.query_offset = flag("query_offset");
  takes.more_queries = flag("more_queries");
  takes.queries_at_end = flag("queries_at_end");
  takes.alignment = argument<std::string>(offered, "alignment");
  takes.strides = flag("strides");
  takes.packed = flag("packed");
  takes.value_dim = flag("value_dim");
  takes.values_in_keys = flag("values_in_keys");
  takes.lse_gradient = flag("lse_gradient");
  takes.dropout = flag("dropout");
  takes.makes_keep = flag("makes_keep");
  takes.rotary_dim = flag("rotary_dim");
  takes.rotary_dims = argument<std::vector<int>>(offered, "rotary_dims");
  takes.paged = flag("paged");
  takes.page_sizes = argument<std::vector<int>>(offered, "page_sizes");
  for (const auto& cache : argument<std::vector<std::string>>(offered, "caches")) {
    takes.caches.push_back(static_cast<int>(cases::cache_from(cache, "cache")));
  }
  takes.scale_per_key = flag("scale_per_key");
  takes.ignores_hidden = flag("nan_in_hidden_keys");
  takes.scale = flag("scale");
  takes.softcap = flag("softcap");
  takes.own_softcap = argument<double>(offered, "own_softcap");
  for (const auto& [name, value] : argument<std::map<std::string, double>>(offered, "options")) {
    takes.options[option_from(name, bias)] = value;
  }
  return takes;
}

verdict::Shapes shapes_from(const Json& offered) {
  const auto sizes = [&](const char* name) { return argument<std::vector<int>>(offered, name); };
  verdict::Shapes shapes;
  shapes.batch = sizes("batch");
  shapes.heads = sizes("heads");
  shapes.kv_heads = sizes("kv_heads");
  shapes.queries = sizes("queries");
  shapes.keys = sizes("keys");
  shapes.head_dims = sizes("head_dims");
  shapes.value_dims = sizes("value_dims");
  shapes.rotary_dims = sizes("rotary_dims");
  if (const auto softcap = argument<double>(offered, "own_softcap")) shapes.softcaps = {softcap};
  shapes.values_in_keys = argument<bool>(offered, "values_in_keys");
  shapes.longest = argument<int>(offered, "longest");
  for (const auto& shape : argument<std::vector<std::vector<int>>>(offered, "shapes")) {
    auto& whole = shapes.whole.emplace_back();
    std::copy_n(shape.begin(), whole.size(), whole.begin());
  }
  shapes.validate();
  return shapes;
}

/// The spec of a repro line, of this bias whatever else has its name. @throws BadInput where it is
/// none, or of something else.
cases::Spec spec_from(const std::string& line, cases::Pass pass, cases::Bias bias,
                      cases::Format format) {
  cases::Spec spec = cases::from_line(line);
  const auto require = [](const char* field, std::string_view got, std::string_view expected) {
    if (got != expected) {
      throw BadInput(std::string("case: ") + field, in_quotes(got),
                     in_quotes(expected) + ", as the other arguments say");
    }
  };
  require("pass", cases::name(spec.pass), cases::name(pass));
  require("bias", cases::name(spec.bias), cases::name(bias));
  require("dtype", cases::name(spec.format), cases::name(format));
  spec.bias = bias;
  return spec;
}

/// The contract of a known implementation, as JSON. @throws BadInput.
Json named_contract(const Json& arguments, plumbline_native_ask) {
  const auto format = cases::format_from(argument<std::string>(arguments, "format"), "dtype");
  return cases::to_json(
             cases::contract_named(argument<std::string>(arguments, "name"), format, "contract"))
      .dump();
}

/// What a case has that the function does not take.
std::string what_is_not_taken(const Takes& takes, const cases::Spec& spec) {
  if (takes.causal && *takes.causal != spec.mask.causal) {
    return fmt::format("causal={:d}", spec.mask.causal);
  }
  if (!takes.window && spec.mask.window.hides()) return "window";
  if (!takes.window_sides && spec.mask.window.left != spec.mask.window.right) {
    return "window of different sides";
  }
  if (!takes.lengths && spec.mask.ragged && !spec.is_packed()) return "ragged (lengths)";
  if (!takes.documents && spec.mask.documents) return "documents";
  if (!takes.mask && spec.mask.pattern != cases::Pattern::none) return "mask";
  if (spec.is_packed() != takes.packed || (spec.is_strided() && !takes.strides)) {
    return fmt::format("layout={}", cases::name(spec.layout));
  }
  if (!takes.value_dim && spec.value_width() != spec.head_dim) return "value_dim";
  if (takes.values_in_keys != spec.values_in_keys) {
    return fmt::format("values_in_keys={:d}", spec.values_in_keys);
  }
  if (!takes.lse_gradient && spec.lse_gradient) return "lse_gradient";
  if (!takes.dropout && spec.dropout > 0) return "dropout";
  if (!takes.rotates(spec.rotary_width(), spec.head_dim)) {
    return fmt::format("rotary_dim={}", spec.rotary_width());
  }
  if (!takes.ssmax && spec.ssmax) return "ssmax";
  if (!takes.sinks && spec.sinks) return "sinks";
  if (!takes.grouped_heads && spec.heads != spec.kv_heads) return "fewer kv_heads than heads";
  if (!takes.more_queries && spec.queries > spec.keys) return "more queries than keys";
  if (!takes.reads_cache(spec.page_size, static_cast<int>(spec.cache), spec.scale_per_key)) {
    return fmt::format("page_size={}, cache={}, scale_per_key={:d}", spec.page_size,
                       cases::name(spec.cache), spec.scale_per_key);
  }
  if (spec.pass == cases::Pass::decode && !takes.query_offset) {
    if (spec.query_offset != spec.keys - spec.queries || spec.mask.ragged != spec.queries_at_end) {
      return "queries before the end (query_offset)";
    }
  } else if (!spec.is_packed()) {
    if (!takes.aligns(spec.query_offset, spec.queries, spec.keys)) {
      return takes.alignment.empty() ? "fewer queries than keys"
                                     : fmt::format("query_offset={} of {} queries and {} keys",
                                                   spec.query_offset, spec.queries, spec.keys);
    }
    if (!takes.queries_at_end && spec.queries_at_end) return "queries_at_end";
  }
  if (!takes.scale && spec.scale != 0) return "scale";
  if (!takes.softcap && spec.softcap != takes.own_softcap) return "softcap";
  return "other options of the bias";
}

/// Cases that a function takes which decodes from one kind of cache alone: drawn ones, each with
/// one of the kinds and page sizes that it reads.
verdict::Offer offer_of_decoding(const verdict::Kernel& kernel, const Takes& takes,
                                 cases::Bias bias, cases::Format format,
                                 const verdict::Shapes& shapes) {
  constexpr int drawn = 300;
  const auto pass = cases::Pass::decode;
  verdict::Offer given;
  for (cases::Spec spec : verdict::draw_specs(pass, bias, format, drawn, 1, shapes)) {
    std::size_t n = given.size();
    if (!takes.query_offset) {
      spec.query_offset = spec.keys - spec.queries;
      spec.mask.ragged = spec.queries_at_end = takes.lengths;
    }
    spec.page_size = takes.paged ? std::max(1, spec.page_size) : 0;
    if (const auto sizes = takes.page_sizes.size()) {
      spec.page_size = takes.page_sizes[n % sizes];
      n /= sizes;
    }
    if (!takes.caches.empty()) {
      spec.cache = static_cast<cases::CacheFormat>(takes.caches[n % takes.caches.size()]);
      spec.scale_per_key = takes.scale_per_key;
      spec.family = cases::Family::generic;
    }
    given.push_back(spec);
  }
  return verdict::offer_like(given, kernel, pass, bias, format, shapes);
}

/// {"report": JSON, "words": what a failure says, "raised": whether the failing case ended with an
/// exception of the function}; null where the caller ended the check. @throws BadInput, also where
/// no case can be drawn.
Json check(const Json& arguments, plumbline_native_ask ask) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto text = [&](const char* field) { return argument<std::string>(arguments, field); };
  const auto name = text("name"), case_line = text("case");
  const auto pass = cases::pass_from(text("pass_"), "pass");
  const auto bias = bias_of(arguments, "bias");
  const auto format = cases::format_from(text("dtype"), "dtype");
  const auto offered = argument<Json>(arguments, "offer");
  const auto seed = argument<std::uint64_t>(arguments, "seed");
  const auto time_limit = argument<double>(arguments, "time_limit");
  const int cases = argument<int>(arguments, "cases");
  const verdict::Shapes shapes = shapes_from(offered);
  CallableKernel callable(ask, name, bias, takes_from(offered, bias),
                          cases::contract_from(nlohmann::json::parse(text("contract")), "contract"),
                          pass, argument<bool>(arguments, "deterministic"));
  const verdict::Kernel kernel(callable.kernel(), std::make_shared<OnVariations>(callable));
  int threads = argument<int>(arguments, "threads");
  if (threads == 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto case_done = [&](int done) {
    callable.answer_to({{"done", done}});
    if (callable.interrupted()) throw Interrupted{};
  };
  verdict::Draws draws{shapes, {}};
  if (!argument<bool>(arguments, "shrink")) draws.most_smaller = 0;
  draws.time_is_up = [&] { return time_limit > 0 && seconds() > time_limit; };
  if (case_line.empty()) {
    draws.offer = pass == cases::Pass::decode
                      ? offer_of_decoding(kernel, takes_from(offered, bias), bias, format, shapes)
                      : verdict::offer_of(kernel, pass, bias, format, shapes);
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
    report.cells = {
        case_line.empty()
            ? verdict::check_cell(kernel, pass, bias, format, cases, seed, threads, case_done, {},
                                  draws)
            : verdict::check_spec(kernel, spec_from(case_line, pass, bias, format), threads)};
    verdict::name_conventions(kernel, report.cells.front(), threads);
  } catch (const Interrupted&) {
  }
  if (callable.interrupted()) return nullptr;
  const verdict::CellResult& cell = report.cells.front();
  if (!cell.supported) {
    throw BadInput("case", in_quotes(case_line, 400),
                   "one without " +
                       what_is_not_taken(takes_from(offered, bias), cases::from_line(case_line)) +
                       ", which the other arguments say that the function does not take");
  }
  report.seconds = seconds();
  std::string words;
  bool raised = false;
  if (cell.counterexample) {
    words = verdict::describe(cell.counterexample->judgement);
    for (const auto& what : cell.counterexample->separates) words += fmt::format("  {}\n", what);
    raised = cell.counterexample->judgement.kind == kernel_process::failure_kind::exception;
  }
  return {{"report", verdict::to_json(report).dump()}, {"words", words}, {"raised", raised}};
}

/// The numbers of a case by name, floats but for lengths and documents.
Json case_arrays(const Json& arguments, plumbline_native_ask) {
  const auto line = argument<std::string>(arguments, "line");
  const cases::Case c = cases::generate(cases::from_line(line));
  Json arrays;
  const auto add = [&](const std::string& name, auto values, const cases::Shape& shape) {
    const char* type = std::is_same_v<decltype(values), std::vector<float>>          ? "<f4"
                       : std::is_same_v<decltype(values), std::vector<double>>       ? "<f8"
                       : std::is_same_v<decltype(values), std::vector<std::uint8_t>> ? "|u1"
                                                                                     : "<i4";
    if (!values.empty()) arrays[name] = array(std::move(values), type, shape);
  };
  const auto stored = [&](const std::vector<float>& numbers, const std::vector<float>& scales,
                          cases::CacheFormat cache = cases::CacheFormat::in_format) {
    return cases::unscaled(numbers, scales, c.spec.format, cache);
  };
  add("q", stored(c.q, c.q_scale), cases::query_shape(c.spec));
  add("k", stored(c.k, c.k_scale, c.spec.cache), cases::key_shape(c.spec));
  add("v", stored(c.v, c.v_scale, c.spec.cache), cases::value_shape(c.spec));
  add("q_scale", c.q_scale, cases::per_key_head(c.spec));
  add("k_scale", c.k_scale, cases::per_cached(c.spec));
  add("v_scale", c.v_scale, cases::per_cached(c.spec));
  add("grad_o", c.grad_o, cases::output_shape(c.spec));
  add("grad_lse", c.grad_lse, cases::per_query(c.spec));
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (!cases::reads(c.spec, parameter)) continue;
    add(cases::parameter_name(c.spec.bias, parameter), c[parameter],
        cases::shape_of(c.spec, c.options, parameter));
  }
  add("lengths", c.lengths, {c.spec.batch});
  add("query_lengths", c.query_lengths, {c.spec.batch});
  add("documents", c.documents, {c.spec.batch, c.spec.keys});
  add("mask", c.mask, cases::mask_shape(c.spec));
  add("keep", c.keep, cases::keep_shape(c.spec));
  const verdict::Cache cache(c);
  const auto pages = static_cast<std::int64_t>(cache.page_table().size()) / c.spec.batch;
  add("page_table", cache.page_table(), {c.spec.batch, pages});
  add("prefix_sums", cache.prefix_sums(), {c.spec.batch, c.spec.heads, c.spec.keys});
  return arrays;
}

/// Of every method that can be checked its name, formula, source, parameters with their shapes,
/// those with a gradient, and options with whether they are whole and the values that cases have.
Json methods(const Json&, plumbline_native_ask) {
  Json all = Json::array();
  for (const auto bias : cases::every_bias()) {
    cases::Spec spec;
    spec.bias = bias;
    Json parameters = Json::array(), gradients = Json::array(), options = Json::object(),
         shapes = Json::object(), whole = Json::object(), drawn = Json::object();
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
      drawn[cases::info(option).name] = Json::array({defaults[option]});
    }
    for (const methods::Option& option : method.options) {
      if (option.choices == methods::Option{}.choices) continue;
      drawn[cases::info(option.id).name] = option.choices;
    }
    all.push_back({{"name", cases::name(bias)},
                   {"formula", methods::formula_of(bias)},
                   {"source", methods::source_of(bias)},
                   {"parameters", parameters},
                   {"shapes", shapes},
                   {"gradients", gradients},
                   {"options", options},
                   {"whole", whole},
                   {"drawn", drawn}});
  }
  return all.dump();
}

/// Families of inputs that a contract may leave out.
Json families(const Json&, plumbline_native_ask) {
  Json names = Json::array();
  for (int n = 1; n < static_cast<int>(cases::Family::file); ++n) {
    names.push_back(cases::name(static_cast<cases::Family>(n)));
  }
  return names;
}

/// Declares a custom bias. Its parameters' names, and their shapes.
Json declare_custom_bias(const Json& arguments, plumbline_native_ask) {
  const auto declaration = argument<Json>(arguments, "declaration");
  const auto bias = cases::declare_custom_bias(nlohmann::json::parse(declaration.dump()), "Custom");
  Json shapes = Json::object();
  for (const auto& parameter : methods::row(bias).parameters) {
    shapes[parameter.name] = methods::in_words(parameter);
  }
  return shapes;
}

}  // namespace

Functions check_functions() {
  return {{"check", &check},
          {"declare_custom_bias", &declare_custom_bias},
          {"case_arrays", &case_arrays},
          {"methods", &methods},
          {"families", &families},
          {"named_contract", &named_contract}};
}

}  // namespace plumbline::python
