// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/kernel_library.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <thread>
#include <tuple>

#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/cases/bias_parameters.hpp"
#include "verdict/cases/case_file.hpp"
#include "verdict/cases/named_contracts.hpp"
#include "verdict/oracle/cache.hpp"
#include "verdict/oracle/case_reading.hpp"
#include "verdict/oracle/oracle.hpp"
#include "verdict/process/guards.hpp"
#include "verdict/process/in_process.hpp"
#include "verdict/process/last_words.hpp"
#include "verdict/process/layout.hpp"
#include "verdict/process/load.hpp"

namespace plumbline::verdict {
namespace {

using cases::Format;
using cases::Layout;
using kernel_process::CaseRows;
using kernel_process::KernelCall;
using kernel_process::NoAnswer;
using kernel_process::Rows;

/// @param pass of the call, which may be the forward pass of a backward case
plumbline_problem shape_of(const cases::Spec& spec, cases::Pass pass) {
  plumbline_problem problem{};
  problem.struct_size = sizeof(plumbline_problem);
  problem.batch = spec.batch;
  problem.heads = spec.heads;
  problem.kv_heads = spec.kv_heads;
  problem.queries = spec.queries;
  problem.keys = spec.keys;
  problem.head_dim = spec.head_dim;
  problem.value_dim = spec.value_width();
  problem.values_in_keys = spec.values_in_keys;
  problem.query_offset = spec.query_offset;
  problem.queries_at_end = spec.queries_at_end;
  problem.format = static_cast<std::int32_t>(spec.format);
  problem.bias = spec.bias.method;
  problem.dape = spec.bias.dape;
  problem.rope = spec.bias.rope;
  problem.rotary_dim = spec.rotary_width();
  problem.ssmax = spec.ssmax;
  problem.causal = spec.mask.causal;
  problem.window_left = spec.mask.window.left;
  problem.window_right = spec.mask.window.right;
  problem.page_size = spec.page_size;
  problem.cache_format = static_cast<std::int32_t>(spec.cache);
  problem.scale_per_key = spec.scale_per_key;
  problem.scale = cases::scale_of(spec);
  problem.softcap = spec.softcap;
  problem.sinks = spec.sinks;
  problem.lse_gradient = spec.lse_gradient && pass == cases::Pass::backward;
  problem.mask_per_batch = spec.mask.per_batch;
  problem.mask_per_head = spec.mask.per_head;
  const cases::Options options = cases::drawn_options(spec);
  std::copy(options.begin(), options.end(), problem.options);
  // Not to be read: they say that the problem has such a thing.
  static constexpr std::int32_t there = 0;
  if (spec.mask.ragged) problem.lengths = &there;
  if (spec.mask.documents) problem.documents = &there;
  static constexpr std::uint8_t byte = 0;
  if (spec.mask.pattern != cases::Pattern::none) problem.mask = &byte;
  problem.dropout = spec.dropout;
  if (spec.dropout > 0) {
    problem.keep = &byte;
    problem.dropout_generator = !spec.keep_given;
    if (!spec.keep_given && spec.family != cases::Family::file) {
      std::tie(problem.dropout_seed, problem.dropout_offset) = cases::drawn_dropout_seed(spec);
    }
  }
  if (spec.page_size > 0) problem.pages = &there;
  const auto strides = kernel_process::strides_of(spec);
  problem.q_strides = strides.q;
  problem.k_strides = strides.k;
  problem.v_strides = strides.v;
  problem.o_strides = strides.o;
  if (spec.is_packed()) {
    problem.cu_seqlens_q = problem.cu_seqlens_k = &there;
    problem.lengths = nullptr;
    problem.queries_at_end = 0;
  } else {
    problem.strided = spec.is_strided();
  }
  return problem;
}

/// Rows of k, counted over batch and key heads, that no query row sees.
std::vector<std::size_t> hidden_keys(const cases::Case& c) {
  const auto& s = c.spec;
  const reference::Mask mask = mask_of(c);
  const int group = s.heads / s.kv_heads;
  std::vector<std::size_t> hidden;
  // Of the query heads that share a key head all see the same unless a mask is theirs.
  const int heads = mask.also ? group : 1;
  for (int kv = 0; kv < s.batch * s.kv_heads; ++kv) {
    const int batch = kv / s.kv_heads, first = kv % s.kv_heads * group;
    std::vector<bool> seen(s.keys, false);
    std::ptrdiff_t unseen = s.keys;
    for (int n = heads * s.queries - 1; n >= 0 && unseen > 0; --n) {
      for (const int key : reference::visible_keys(mask, batch, c.position(batch, n % s.queries),
                                                   s.keys, first + n / s.queries)) {
        unseen -= seen[key] ? 0 : 1;
        seen[key] = true;
      }
    }
    for (int key = 0; key < s.keys; ++key) {
      if (!seen[key]) hidden.push_back(static_cast<std::size_t>(kv) * s.keys + key);
    }
  }
  return hidden;
}

/// What DAPE and CoPE add, and rows that are means, are of all keys.
bool reads_hidden_keys(const Contract& contract, const cases::Spec& spec) {
  return cases::needs_scores(spec.bias) || contract.empty_rows == PLUMBLINE_EMPTY_ROWS_ARE_MEANS;
}

/// What a kernel is given: the case's arrays as the pass has them.
class GivenArrays {
 public:
  /// @param hidden_are_nan k and v are NaN at keys that no query sees
  GivenArrays(const cases::Case& c, bool hidden_are_nan, BeyondLength beyond)
      : case_(c),
        cache_(c, beyond),
        hidden_(hidden_are_nan ? hidden_keys(c) : std::vector<std::size_t>{}),
        q_(cases::stored_bytes(stored(c.q, c.q_scale), c.spec.format)),
        k_(cache_bytes(c.k, c.k_scale, c.spec.head_dim)),
        v_(cache_bytes(c.v, c.v_scale, c.spec.value_width())),
        k_scale_(cache_scales(c.k_scale)),
        v_scale_(cache_scales(c.v_scale)),
        grad_o_(cases::stored_bytes(c.grad_o, cases::output_format(c.spec.format))),
        grad_lse_(cases::stored_bytes(c.grad_lse, Format::fp32)) {
    if (c.spec.layout == Layout::contiguous) return;
    rows_.emplace(c);
    const auto spread = [](std::vector<std::byte>& array, const Rows& rows) {
      if (!array.empty()) {
        array = rows.spread(array, array.size() / (rows.begin.size() * rows.width));
      }
    };
    spread(q_, rows_->q);
    spread(k_, rows_->k);
    spread(v_, rows_->v);
    spread(grad_o_, rows_->o);
    spread(grad_lse_, rows_->lse);
  }

  /// Where rows lie, if not one after the other.
  const std::optional<CaseRows>& rows() const { return rows_; }

  /// The call of a pass without its outputs. The arrays are those of this object.
  KernelCall call(cases::Pass pass) const {
    KernelCall call;
    call.pass = static_cast<std::int32_t>(pass);
    call.problem = shape_of(case_.spec, pass);
    call.problem.scale = case_.scale;
    call.problem.dropout_seed = case_.dropout_seed;
    call.problem.dropout_offset = case_.dropout_offset;
    std::copy(case_.options.begin(), case_.options.end(), call.problem.options);
    const bool decodes = pass == cases::Pass::decode;
    const auto add = [&](std::int32_t slot, const std::string& name, const auto& values) {
      if (values.empty()) return;
      call.inputs.push_back({slot, name, values.data(), values.size() * sizeof values[0]});
    };
    add(kernel_process::slot_q, "q", q_);
    add(kernel_process::slot_k, "k", k_);
    add(kernel_process::slot_v, "v", v_);
    add(kernel_process::slot_q_scale, "q_scale", case_.q_scale);
    add(kernel_process::slot_k_scale, "k_scale", k_scale_);
    add(kernel_process::slot_v_scale, "v_scale", v_scale_);
    for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
      const auto parameter = static_cast<plumbline_parameter>(n);
      // A decoding kernel gets their prefix sums.
      if (decodes && methods::is_summed(parameter)) continue;
      add(kernel_process::slot_parameters + n, cases::parameter_name(case_.spec.bias, parameter),
          case_[parameter]);
    }
    if (case_.spec.is_packed()) {
      add(kernel_process::slot_cu_seqlens_q, "cu_seqlens_q", rows_->cu_seqlens_q);
      add(kernel_process::slot_cu_seqlens_k, "cu_seqlens_k", rows_->cu_seqlens_k);
      call.problem.total_q = rows_->cu_seqlens_q.back();
      call.problem.total_k = rows_->cu_seqlens_k.back();
    } else {
      add(kernel_process::slot_lengths, "lengths", case_.lengths);
    }
    add(kernel_process::slot_documents, "documents", case_.documents);
    add(kernel_process::slot_mask, "mask", case_.mask);
    add(kernel_process::slot_keep, "keep", case_.keep);
    if (decodes) {
      add(kernel_process::slot_pages, "pages", cache_.page_table());
      add(kernel_process::slot_prefix_sums, "prefix_sums", cache_.prefix_sums());
    }
    if (pass == cases::Pass::backward) {
      add(kernel_process::slot_grad_o, "grad_o", grad_o_);
      add(kernel_process::slot_grad_lse, "grad_lse", grad_lse_);
    }
    return call;
  }

 private:
  std::vector<float> stored(const std::vector<float>& numbers,
                            const std::vector<float>& scales) const {
    return cases::unscaled(numbers, scales, case_.spec.format);
  }

  std::vector<std::byte> cache_bytes(const std::vector<float>& numbers,
                                     const std::vector<float>& scales, int width) const {
    if (scales.empty() && hidden_.empty() && cache_.page_table().empty()) {
      return cases::stored_bytes(numbers, case_.spec.format, case_.spec.cache);
    }
    std::vector<float> rows = cases::unscaled(numbers, scales, case_.spec.format, case_.spec.cache);
    for (const std::size_t row : hidden_) {
      std::fill_n(rows.begin() + static_cast<std::ptrdiff_t>(row * width), width, std::nanf(""));
    }
    return cases::stored_bytes(cache_.pages(rows, width), case_.spec.format, case_.spec.cache);
  }

  /// In the order of the keys: one of a page that holds none is NaN.
  std::vector<float> cache_scales(const std::vector<float>& scales) const {
    return case_.spec.scale_per_key ? cache_.pages(scales, 1) : scales;
  }

  const cases::Case& case_;
  Cache cache_;
  std::vector<std::size_t> hidden_;
  std::vector<std::byte> q_, k_, v_;
  std::vector<float> k_scale_, v_scale_;
  std::vector<std::byte> grad_o_, grad_lse_;
  std::optional<CaseRows> rows_;
};

/// The outputs of one pass as the kernel wrote them.
class Collected {
 public:
  /// Asks for `count` numbers in the format.
  /// @param rows where they lie, or null: one after the other
  /// @param missing what rows that lie nowhere are taken to hold
  void add(KernelCall& call, std::int32_t slot, const std::string& name, std::vector<float>& into,
           std::size_t count, Format format, const Rows* rows = nullptr,
           std::vector<float> missing = {}) {
    if (missing.empty() && rows) missing.assign(count, 0.0F);
    outputs_.push_back({name, &into, format, std::make_unique<std::vector<std::byte>>(), rows,
                        std::move(missing)});
    call.outputs.push_back({slot, name,
                            (rows ? rows->extent() : count) * cases::bytes_per_number(format),
                            outputs_.back().bytes.get()});
  }
  /// Says what a kernel wrote between rows, if it did; else hands the numbers over.
  std::string deliver() const {
    for (const auto& [name, into, format, bytes, rows, missing] : outputs_) {
      if (!rows) {
        *into = cases::widened(*bytes, format);
        continue;
      }
      const std::size_t element = cases::bytes_per_number(format);
      if (const auto written = rows->first_written_between(*bytes, element)) {
        return kernel_process::between_rows_words(name, *written);
      }
      const auto there = rows->gathered(*bytes, element, cases::stored_bytes(missing, format));
      *into = cases::widened(there, format);
    }
    return "";
  }
  const std::vector<std::byte>& operator[](std::size_t n) const { return *outputs_[n].bytes; }

 private:
  struct Output {
    std::string name;
    std::vector<float>* into;
    Format format;
    std::unique_ptr<std::vector<std::byte>> bytes;
    const Rows* rows;
    std::vector<float> missing;
  };
  std::vector<Output> outputs_;
};

/// lse of rows that packed sequences do not have, as of rows that see no key; o is 0
/// (empty_rows_of).
std::vector<float> lse_of_missing_rows(const cases::Case& c, const plumbline_contract& contract) {
  const auto& s = c.spec;
  std::vector<float> lse;
  for (int row = 0; row < s.batch * s.heads * s.queries; ++row) {
    const double sink =
        sees_its_sink(contract, s) ? c[PLUMBLINE_SINKS][row / s.queries % s.heads] : -INFINITY;
    lse.push_back(static_cast<float>(contract.lse_base_2 == 1 ? sink / std::log(2.0) : sink));
  }
  return lse;
}

std::size_t count_of(const cases::Shape& shape) {
  return static_cast<std::size_t>(cases::elements(shape));
}

}  // namespace

Kernel::Kernel(std::shared_ptr<void> library, const plumbline_kernel& kernel)
    : Kernel(kernel,
             std::make_shared<kernel_process::InProcessCaller>(std::move(library), kernel)) {}

Kernel::Kernel(const plumbline_kernel& kernel,
               std::shared_ptr<const kernel_process::KernelCaller> caller)
    : caller_(std::move(caller)),
      name_(kernel.name),
      contracts_(std::to_array(kernel.contracts)),
      has_pass_{kernel.forward != nullptr, kernel.backward != nullptr, kernel.decode != nullptr},
      deterministic_(kernel.deterministic != 0),
      ignores_hidden_keys_(kernel.ignores_hidden_keys != 0) {}

Kernel::Kernel(std::shared_ptr<kernel_process::IsolatedLibrary> library, int number)
    : caller_(std::make_shared<kernel_process::IsolatedCaller>(library, number)) {
  const kernel_process::Reply& kernel = library->introduction().kernels.at(number);
  name_ = showable(kernel.text);
  contracts_ = std::to_array(kernel.contracts);
  for (int pass = 0; pass < PLUMBLINE_PASS_COUNT; ++pass) {
    has_pass_[pass] = kernel.has_pass[pass] != 0;
  }
  deterministic_ = kernel.deterministic != 0;
  ignores_hidden_keys_ = kernel.ignores_hidden_keys != 0;
}

const Contract& Kernel::contract(cases::Format format) const {
  return contracts_[static_cast<int>(format)];
}

bool Kernel::declares(cases::Format format) const {
  const auto says_nothing = [](const Contract& contract) {
    return contract.unit_roundoff == 0 && contract.exp_error == 0 && contract.splits == 0;
  };
  return !says_nothing(contract(format)) || std::ranges::all_of(contracts_, says_nothing);
}

void Kernel::declare(const std::string& named_contract) {
  for (const Format format : cases::all_formats()) {
    Contract& contract = contracts_[static_cast<int>(format)];
    try {
      contract = cases::contract_named(named_contract, format, "contract");
    } catch (const BadInput&) {
      contract.families_left_out = ~0U;
    }
  }
}

bool Kernel::asked(const plumbline_problem& problem, cases::Pass pass,
                   const cases::Spec& spec) const {
  const auto refuse = [&](const std::string& got) {
    throw BadInput(name_ + ": supports", got + " for '" + cases::to_line(spec) + "'", "0 or 1");
  };
  int answer = 0;
  try {
    const KernelRuns asked(" in supports() of " + name_ + ", asked about\n  '" +
                           cases::to_line(spec) + "'\n");
    answer = caller_->supports(problem, static_cast<std::int32_t>(pass));
  } catch (const NoAnswer& none) {
    throw SupportsFailed(spec, none.end);
  } catch (const std::exception& error) {
    refuse("an exception: " + showable(error.what()));
  } catch (...) {
    refuse("an exception");
  }
  if (answer != 0 && answer != 1) refuse(std::to_string(answer));
  return answer == 1;
}

bool Kernel::supports(const cases::Spec& spec) const {
  if (!has_pass(spec.pass)) return false;
  if (contract(spec.format).families_left_out >> static_cast<int>(spec.family) & 1U) return false;
  if (spec.lse_gradient && contract(spec.format).no_lse) return false;
  return asked(shape_of(spec, spec.pass), spec.pass, spec);
}

void Kernel::will_be_asked(std::span<const cases::Spec> specs) const {
  if (specs.empty() || !has_pass(specs.front().pass)) return;
  std::vector<plumbline_problem> problems;
  for (const auto& spec : specs) problems.push_back(shape_of(spec, spec.pass));
  caller_->will_be_asked(problems, static_cast<std::int32_t>(specs.front().pass));
}

bool Kernel::has_forward_of(const cases::Spec& spec) const {
  return has_pass(cases::Pass::forward) &&
         asked(shape_of(spec, cases::Pass::forward), cases::Pass::forward, spec);
}

Kernel Kernel::on_variation(int number) const {
  Kernel kernel = *this;
  kernel.variation_ = number;
  return kernel;
}

namespace {

/// The outputs of a forward pass as a kernel would have stored them: the nearest numbers of the
/// formats.
void fill_from_oracle(cases::Outputs& outputs, const cases::Case& the_case,
                      const plumbline_contract& contract) {
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto numbers = oracle_numbers(the_case, contract, threads);
  const Format format = cases::output_format(the_case.spec.format, contract.float_o);
  for (const double o : numbers.o) {
    outputs.o.push_back(cases::stored(static_cast<float>(o), format));
  }
  for (const double lse : numbers.lse) outputs.lse.push_back(static_cast<float>(lse));
}

}  // namespace

bool Kernel::ignores_hidden_keys(const cases::Spec& spec) const {
  return ignores_hidden_keys_ && !reads_hidden_keys(contract(spec.format), spec);
}

bool Kernel::gets_hidden_nan(const cases::Spec& spec) const {
  // int8 has no NaN.
  return ignores_hidden_keys(spec) && spec.cache != cases::CacheFormat::int8;
}

KernelRun Kernel::run(const cases::Case& the_case,
                      const std::function<void(cases::Pass)>& done) const {
  const auto& spec = the_case.spec;
  const auto& declared = contract(spec.format);
  const Format format = cases::output_format(spec.format, declared.float_o);
  const Format grad_format = cases::output_format(spec.format, declared.float_gradients);
  const GivenArrays given(the_case, gets_hidden_nan(spec),
                          reads_hidden_keys(declared, spec) ? BeyondLength::its_page
                          : ignores_hidden_keys(spec)       ? BeyondLength::nothing
                                                            : BeyondLength::full_page);
  const std::size_t q_count = count_of(cases::query_shape(spec)),
                    k_count = count_of(cases::key_shape(spec)),
                    v_count = count_of(cases::value_shape(spec)),
                    o_count = count_of(cases::output_shape(spec)),
                    rows = count_of(cases::per_query(spec));

  KernelRun result;
  const bool has_lse = !contract(spec.format).no_lse;
  // Not the bits of the seed that choose which cases run twice.
  const auto of_seed = spec.seed / 4 % std::max<std::uint64_t>(1, variations().size());
  const int variation = variation_.value_or(static_cast<int>(of_seed));
  const auto make = [&](KernelCall& call, const Collected& collected, cases::Pass pass) {
    call.variation = variation;
    kernel_process::CallEnd end = caller_->call(call);
    if (done) done(pass);
    result.device_lost = end.device_lost;
    result.failure = std::move(end.failure);
    result.kind = std::move(end.kind);
    for (auto& file : end.opened_files) result.opened_files.push_back(std::move(file));
    if (!has_lse && result.kind == kernel_process::failure_kind::crash &&
        result.failure.find("null pointer") != std::string::npos) {
      result.failure += "; by its contract it has no lse (no_lse), and outputs->lse is null";
    }
    if (result.failure.empty()) {
      result.failure = collected.deliver();
      if (!result.failure.empty()) result.kind = kernel_process::failure_kind::wrote_outside;
    }
    return result.failure.empty();
  };

  const std::optional<CaseRows>& at = given.rows();
  const auto rows_of = [&](Rows CaseRows::*array) { return at ? &(*at.*array) : nullptr; };
  const auto missing_lse = [&] {
    return spec.is_packed()
               ? lse_of_missing_rows(the_case, contract_for(contract(spec.format), spec))
               : std::vector<float>{};
  };

  Collected forward;
  std::vector<std::byte> oracles_o, oracles_lse;
  std::span<const std::byte> o, lse;  // of the forward pass, for the backward pass
  if (spec.pass == cases::Pass::backward && !has_forward_of(spec)) {
    fill_from_oracle(result.outputs, the_case, contract(spec.format));
    result.forward_is_oracles = true;
    oracles_o = cases::stored_bytes(result.outputs.o, format);
    oracles_lse = cases::stored_bytes(result.outputs.lse, Format::fp32);
    if (at) {
      oracles_o = at->o.spread(oracles_o, cases::bytes_per_number(format));
      oracles_lse = at->lse.spread(oracles_lse, sizeof(float));
    }
    o = oracles_o;
    lse = oracles_lse;
  } else {
    const auto first = spec.pass == cases::Pass::decode ? spec.pass : cases::Pass::forward;
    KernelCall call = given.call(first);
    forward.add(call, kernel_process::slot_o, "o", result.outputs.o, o_count, format,
                rows_of(&CaseRows::o));
    if (has_lse) {
      forward.add(call, kernel_process::slot_lse, "lse", result.outputs.lse, rows, Format::fp32,
                  rows_of(&CaseRows::lse), missing_lse());
    }
    if (!make(call, forward, first) || spec.pass != cases::Pass::backward) return result;
    o = forward[0];
    if (has_lse) lse = forward[1];
  }

  KernelCall call = given.call(cases::Pass::backward);
  call.inputs.push_back({kernel_process::slot_o, "o", o.data(), o.size()});
  if (has_lse) {
    call.inputs.push_back({kernel_process::slot_lse, "lse", lse.data(), lse.size()});
  }
  Collected backward;
  backward.add(call, kernel_process::slot_grad_q, "grad_q", result.outputs.grad_q, q_count,
               grad_format, rows_of(&CaseRows::q));
  backward.add(call, kernel_process::slot_grad_k, "grad_k", result.outputs.grad_k, k_count,
               grad_format, rows_of(&CaseRows::k));
  backward.add(call, kernel_process::slot_grad_v, "grad_v", result.outputs.grad_v, v_count,
               grad_format, rows_of(&CaseRows::v));
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (!cases::has_gradient(spec, parameter)) continue;
    backward.add(call, kernel_process::slot_grad_parameters + n,
                 cases::gradient_name(spec.bias, parameter), result.outputs.grad_parameters[n],
                 the_case[parameter].size(), Format::fp32);
  }
  make(call, backward, cases::Pass::backward);
  return result;
}

KernelLibrary load_kernel_library(const std::filesystem::path& path) {
  const auto [keep, library] = kernel_process::load_library(path);
  KernelLibrary result{showable(library->name), showable(library->device), {}, {}};
  for (int n = 0; n < library->kernel_count; ++n) {
    result.kernels.emplace_back(keep, library->kernels[n]);
  }
  return result;
}

KernelLibrary isolate_kernel_library(const std::filesystem::path& host,
                                     const std::filesystem::path& path, double seconds,
                                     const std::filesystem::path& software_device) {
  const auto library = std::make_shared<kernel_process::IsolatedLibrary>(
      host, kernel_process::KernelFile{path, software_device}, seconds);
  const auto& introduction = library->introduction();
  KernelLibrary result{introduction.name, introduction.device, {}, {}};
  for (std::size_t n = 0; n < introduction.kernels.size(); ++n) {
    result.kernels.emplace_back(library, static_cast<int>(n));
  }
  result.isolation = introduction.namespaces ? Isolation::namespaces : Isolation::process;
  return result;
}

std::string_view name(Isolation isolation) {
  switch (isolation) {
    case Isolation::none:
      return "none";
    case Isolation::process:
      return "process";
    case Isolation::namespaces:
      return "namespaces";
  }
  throw std::logic_error("an isolation without a name");
}

}  // namespace plumbline::verdict
