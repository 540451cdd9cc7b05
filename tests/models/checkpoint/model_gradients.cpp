// SPDX-License-Identifier: Apache-2.0
// Usage: model_gradients JOB.json. Reads the weights that the job names and writes the gradients of
// the loss under the parameters' names, with the logits and the loss.
#include <fmt/format.h>

#include <cstdio>

#include "support/atomic_file.hpp"
#include "tests/models/checkpoint/run_models.hpp"

int main(int count, char** arguments) {
  using namespace plumbline::checkpoint;
  if (count != 2) return 2;
  try {
    const Job job{nlohmann::json::parse(plumbline::read_file(arguments[1]))};
    const std::string model = job.text("model");
    if (model == "gpt2") run_gpt2(job);
    if (model == "bert") run_bert(job);
    if (model == "llama") run_llama(job);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
