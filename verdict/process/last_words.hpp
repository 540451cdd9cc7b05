// SPDX-License-Identifier: Apache-2.0
// What the program says when a kernel, which runs inside it, ends it: by a crash, by abort or by
// exit.
#pragma once

#include <string>

namespace plumbline::verdict {

/// From here on a fatal signal, or an exit that is not main's return, while a kernel runs prints
/// the kernel and its case to standard error and ends with status 1: a kernel that stops the judge
/// has failed.
void install_last_words();

/// For its lifetime a kernel is running; `words` names it and its case.
class KernelRuns {
 public:
  explicit KernelRuns(const std::string& words);
  ~KernelRuns();
  KernelRuns(const KernelRuns&) = delete;
  KernelRuns& operator=(const KernelRuns&) = delete;
};

}  // namespace plumbline::verdict
