// SPDX-License-Identifier: Apache-2.0
#include "cli/method_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/embedding_check.hpp"
#include "golden/case_checks.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/methods/methods.hpp"
#include "reference/scalars/double.hpp"
#include "verdict/judge/judge.hpp"
#include "verdict/property/spec_generator.hpp"

namespace plumbline::cli {
namespace {

namespace methods = reference::methods;
using cases::Case;
using cases::Spec;

/// Of one method and kernel: as many cases.
constexpr int cases_of_a_kernel = 2;
/// Cases are drawn until so many are fit for the method and offered by the kernel.
constexpr int most_draws = 300;

/// How a method is put to the kernels, whose interface names biases and rotations.
struct Form {
  cases::Bias bias;
  bool (*fit)(const std::string& method, Spec&);  ///< false: no case for this method
  void (*fill)(Case&);                            ///< numbers that `generate` does not give
};

/// A short sequence of ordinary numbers, all of it there: what the method adds shows in it.
bool plain(Spec& spec) {
  spec.family = cases::Family::generic;
  spec.mask.ragged = spec.mask.documents = false;
  return spec.keys >= 5 && spec.keys <= 128;
}

/// A number of heads for which the two schedules of slopes differ.
bool three_times_the_heads(const std::string&, Spec& spec) {
  spec.heads *= 3;
  return plain(spec);
}

void geometric_slopes(Case& the_case) {
  const auto slopes = reference::alibi_slopes_geometric<double>(the_case.spec.heads);
  the_case[PLUMBLINE_SLOPES].assign(slopes.begin(), slopes.end());
  the_case.options[PLUMBLINE_SLOPES_PER_BATCH] = 0;
}

/// A window of 1 to about half of the keys, counted as the method counts, that ends before the last
/// query's first key.
bool under_a_window(const std::string& method, Spec& spec) {
  if (!plain(spec)) return false;
  methods::Problem problem;
  problem.options = {{"base", 10000},
                     {"sliding_window", 1 + static_cast<double>(spec.seed % (spec.keys / 2))}};
  const reference::Mask mask = methods::method_of(method).mask(problem);
  spec.mask.causal = mask.causal;
  spec.mask.window = mask.window;
  return mask.window.left < spec.query_offset + spec.queries - 1;
}

bool any_case(const std::string&, Spec&) { return true; }
void as_generated(Case&) {}

std::optional<Form> form_of(const std::string& method) {
  for (const cases::Bias bias : cases::all_biases()) {
    if (cases::name(bias) == method) return Form{bias, any_case, as_generated};
  }
  if (method == "alibi_geometric") {
    return Form{PLUMBLINE_ALIBI, three_times_the_heads, geometric_slopes};
  }
  if (method == "local_rope" || method == "local_rope_keys") {
    return Form{cases::Bias(PLUMBLINE_NOPE, 0, PLUMBLINE_ROPE_INTERLEAVED), under_a_window,
                as_generated};
  }
  return std::nullopt;
}

void add(golden::FileResult& result, const verdict::Judgement& judgement) {
  ++result.cases;
  result.numbers += static_cast<std::size_t>(judgement.rows);
  for (const auto& output : judgement.outputs) {
    result.worst = std::max(result.worst, output.worst.ratio);
  }
}

/// Whether the kernel offers the method in this format; if so, its cases.
bool check_form(const verdict::Kernel& kernel, cases::Pass pass, const std::string& method,
                const Form& form, cases::Format format, golden::FileResult& result,
                const std::string& where) {
  int done = 0;
  for (Spec spec : verdict::draw_specs(pass, form.bias, format, most_draws,
                                       cell_seed(1, pass, form.bias, format))) {
    if (done == cases_of_a_kernel) break;
    if (!form.fit(method, spec) || !kernel.supports(spec)) continue;
    Case the_case = cases::generate(spec);
    form.fill(the_case);
    const verdict::KernelRun run = kernel.run(the_case);
    ++done;
    if (!run.failure.empty()) {
      golden::add_failure(result, where + ": " + run.failure);
      continue;
    }
    const auto judgement =
        verdict::judge(the_case, kernel.contract(format), run.outputs, thread_count());
    add(result, judgement);
    if (judgement.outcome != verdict::Outcome::pass) {
      golden::add_failure(
          result, where + ", " + cases::to_line(spec) + ": " + verdict::describe(judgement));
    }
  }
  return done > 0;
}

/// Every kernel in the first of its formats, counted on from kernel to kernel, that it offers the
/// method in: verify has them all, and the table has many cells.
std::optional<golden::FileResult> check_attention(cases::Pass pass, const std::string& method,
                                                  const Form& form,
                                                  const std::vector<Backend>& backends) {
  golden::FileResult result;
  std::size_t turn = 0;
  for (const Backend& backend : backends) {
    for (const auto& kernel : backend.attention.kernels) {
      const auto& formats = cases::all_formats();
      for (std::size_t n = 0; n < formats.size(); ++n) {
        const cases::Format format = formats[(n + turn) % formats.size()];
        const auto where =
            fmt::format("{} {} {}", backend.attention.device, kernel.name(), cases::name(format));
        if (!check_form(kernel, pass, method, form, format, result, where)) continue;
        ++turn;
        break;
      }
    }
  }
  if (turn == 0) return std::nullopt;
  return result;
}

}  // namespace

std::vector<Backend> available_backends() {
  std::vector<Backend> all;
  for (const char* backend : {"emulated", "cuda"}) {
    try {
      if (has_backend(backend)) {
        all.push_back({load_backend(backend), load_embedding_kernels(backend)});
      }
    } catch (const MachineLacks&) {  // no device: nothing to judge
    }
  }
  return all;
}

std::optional<golden::FileResult> check_kernels(cases::Pass pass, const std::string& method,
                                                const std::vector<Backend>& backends) {
  if (const auto form = form_of(method)) return check_attention(pass, method, *form, backends);
  if (methods::method_of(method).kind != methods::Kind::embedding) return std::nullopt;
  auto result = check_attention(pass, "nope", *form_of("nope"), backends);
  for (const Backend& backend : backends) {
    const auto of_backend = check_embedding(backend.embedding, method, pass);
    if (!result) return std::nullopt;
    result->cases += of_backend.cases;
    result->numbers += of_backend.numbers;
    result->worst = std::max(result->worst, of_backend.worst);
    for (const auto& failure : of_backend.failures) {
      golden::add_failure(*result, backend.attention.device + " embedding: " + failure);
    }
  }
  return result;
}

}  // namespace plumbline::cli
