// SPDX-License-Identifier: Apache-2.0
// The kernels' columns of `plumbline methods` can fail: the built-in kernels with one fault each.
#include "cli/method_kernels.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "cli/embedding_check.hpp"
#include "verdict/cases/bias_parameters.hpp"

BOOST_AUTO_TEST_SUITE(method_kernels_test)

using namespace plumbline;
using cases::Pass;

namespace {

/// The fused kernel, or the one that decodes, as the library has it.
const plumbline_kernel* real = nullptr;

plumbline_kernel kernel_named(const std::string& name) {
  static const auto entry = reinterpret_cast<decltype(&plumbline_kernel_library)>(
      cli::builtin_symbol("emulated", "plumbline_kernel_library"));
  const plumbline_library* library = entry();
  for (int n = 0; n < library->kernel_count; ++n) {
    if (library->kernels[n].name == name) real = &library->kernels[n];
  }
  return *real;
}

/// What is done to a problem before the kernel gets it.
using Fault = void (*)(plumbline_problem&);
Fault fault = nullptr;

plumbline_problem with_fault(const plumbline_problem* problem) {
  plumbline_problem changed = *problem;
  fault(changed);
  return changed;
}
int faulty_forward(const plumbline_problem* problem, const plumbline_outputs* outputs,
                   char* message, size_t size) {
  const plumbline_problem changed = with_fault(problem);
  return real->forward(&changed, outputs, message, size);
}
int faulty_backward(const plumbline_problem* problem, const plumbline_gradients* gradients,
                    char* message, size_t size) {
  const plumbline_problem changed = with_fault(problem);
  return real->backward(&changed, gradients, message, size);
}
int faulty_decode(const plumbline_problem* problem, const plumbline_outputs* outputs, char* message,
                  size_t size) {
  const plumbline_problem changed = with_fault(problem);
  return real->decode(&changed, outputs, message, size);
}

void no_fault(plumbline_problem&) {}
void window_of_a_key_more(plumbline_problem& p) { ++p.window_left, ++p.window_right; }
void no_window(plumbline_problem& p) { p.window_left = p.window_right = -1; }
void no_rotation(plumbline_problem& p) { p.rope = PLUMBLINE_NO_ROPE, p.rotary_dim = 0; }
void official_slopes(plumbline_problem& p) {
  static std::vector<float> slopes;
  slopes = cases::official_alibi_slopes(p.heads);
  p.parameters[PLUMBLINE_SLOPES] = slopes.data();
}

/// The state of the cell: "ok", "FAIL" or "-".
std::string state(Pass pass, const std::string& method, Fault of_pass) {
  fault = of_pass;
  plumbline_kernel kernel = kernel_named(pass == Pass::decode ? "split_kv" : "fused");
  if (pass == Pass::forward) kernel.forward = faulty_forward;
  if (pass == Pass::backward) kernel.backward = faulty_backward;
  if (pass == Pass::decode) kernel.decode = faulty_decode;
  std::vector<cli::Backend> backends;
  backends.push_back({{"test", "emulated", {verdict::Kernel(nullptr, kernel)}},
                      cli::load_embedding_kernels("emulated")});
  const auto result = cli::check_kernels(pass, method, backends);
  if (!result) return "-";
  BOOST_TEST(result->cases > 0u);
  BOOST_TEST(result->numbers > 0u);
  return result->failures.empty() ? "ok" : "FAIL";
}

/// Of the embeddings' kernels with a changed description of the batch.
cli::EmbeddingKernels embedding;
void (*embedding_fault)(plumbline_embedding&) = nullptr;

int faulty_embedding(const plumbline_embedding* e, void* x, char* message, size_t size) {
  plumbline_embedding changed = *e;
  embedding_fault(changed);
  return embedding.forward(&changed, x, message, size);
}
int faulty_embedding_backward(const plumbline_embedding* e, const void* grad_x, float* grad_word,
                              float* grad_position, char* message, size_t size) {
  plumbline_embedding changed = *e;
  embedding_fault(changed);
  return embedding.backward(&changed, grad_x, grad_word, grad_position, message, size);
}

bool embedding_passes(Pass pass, const std::string& method,
                      void (*of_batch)(plumbline_embedding&)) {
  embedding = cli::load_embedding_kernels("emulated");
  embedding_fault = of_batch;
  const auto result =
      cli::check_embedding({faulty_embedding, faulty_embedding_backward}, method, pass);
  BOOST_TEST(result.cases == 12u);
  BOOST_TEST(result.numbers > 0u);
  return result.failures.empty();
}

constexpr const char* added[] = {"sinusoidal", "sinusoidal_own_frequency", "learnable"};

}  // namespace

BOOST_AUTO_TEST_CASE(the_right_kernels_pass_every_pass_of_the_methods_made_of_others) {
  for (const Pass pass : cases::all_passes()) {
    for (const char* method : {"alibi_geometric", "local_rope", "local_rope_keys", "sinusoidal",
                               "sinusoidal_own_frequency", "learnable"}) {
      BOOST_TEST(state(pass, method, no_fault) == "ok", method);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_window_rotation_or_slope_fails_in_every_pass) {
  for (const Pass pass : cases::all_passes()) {
    BOOST_TEST(state(pass, "local_rope", no_window) == "FAIL");
    BOOST_TEST(state(pass, "local_rope", no_rotation) == "FAIL");
    BOOST_TEST(state(pass, "local_rope_keys", window_of_a_key_more) == "FAIL");
    BOOST_TEST(state(pass, "alibi_geometric", official_slopes) == "FAIL");
    // Positions in the embeddings: then attention has none, but it is checked.
    BOOST_TEST(state(pass, "sinusoidal", [](plumbline_problem& p) { p.scale *= 1.01; }) == "FAIL");
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_place_or_table_of_positions_fails) {
  for (const Pass pass : cases::all_passes()) {
    for (const char* method : added) {
      BOOST_TEST(embedding_passes(pass, method, [](plumbline_embedding&) {}), method);
      // Words at the wrong ids.
      BOOST_TEST(!embedding_passes(pass, method,
                                   [](plumbline_embedding& e) {
                                     static std::vector<std::int32_t> reversed;
                                     reversed.assign(e.ids, e.ids + e.batch * e.length);
                                     std::reverse(reversed.begin(), reversed.end());
                                     e.ids = reversed.data();
                                   }),
                 method);
    }
  }
  const auto another_place = [](plumbline_embedding& e) {
    e.position_offset += e.position_offset > 0 ? -1 : e.position_rows > e.length;
  };
  for (const Pass pass : {Pass::forward, Pass::decode}) {
    for (const char* method : added)
      BOOST_TEST(!embedding_passes(pass, method, another_place), method);
    BOOST_TEST(!embedding_passes(pass, "sinusoidal", [](plumbline_embedding& e) {
      e.positions = PLUMBLINE_SINUSOIDAL_OWN_FREQUENCY;
    }));
    BOOST_TEST(!embedding_passes(pass, "sinusoidal_own_frequency", [](plumbline_embedding& e) {
      e.positions = PLUMBLINE_SINUSOIDAL;
    }));
  }
  BOOST_TEST(!embedding_passes(Pass::backward, "learnable", another_place));
}

BOOST_AUTO_TEST_SUITE_END()
