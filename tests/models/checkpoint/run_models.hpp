// SPDX-License-Identifier: Apache-2.0
// A model's loss, logits and gradients for a job; one source a model, since each takes its time to
// compile.
#pragma once

#include "tests/models/checkpoint/model_job.hpp"

namespace plumbline::checkpoint {

void run_gpt2(const Job&);
void run_bert(const Job&);
void run_llama(const Job&);

}  // namespace plumbline::checkpoint
