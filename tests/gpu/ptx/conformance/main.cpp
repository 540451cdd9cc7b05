// SPDX-License-Identifier: Apache-2.0
// Runs the conformance tests on a device, or gives their programs to ptxas.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>

#include "ptx/device.hpp"
#include "tests/gpu/ptx/conformance/assemble.hpp"
#include "tests/gpu/ptx/conformance/families.hpp"
#include "tests/gpu/ptx/conformance/machine.hpp"

namespace plumbline::ptx::conformance {
namespace {

constexpr int skipped = 77;  ///< ctest's SKIP_RETURN_CODE

struct Asked {
  std::string device = "software", form, ptxas, lacking_file;
  std::vector<std::string> families;
  bool list = false, print = false, corrupt = false, targets = false;
  Choice choice;
};

/// A form's outcome: what is counted and printed.
struct Tally {
  std::size_t forms = 0, right = 0, wrong = 0, missing = 0, skipped = 0, values = 0;
};

bool asked_for(const Asked& asked, const char* family) {
  return asked.families.empty() ||
         std::find(asked.families.begin(), asked.families.end(), family) != asked.families.end();
}

/// Every experiment asked for, family by family. Throws std::logic_error where two forms share a
/// name.
template <class F>
void for_each_asked(const Asked& asked, const F& f) {
  std::set<std::string> seen;
  for (const Named& named : families) {
    if (!asked_for(asked, named.name)) continue;
    const Family family = named.make();
    for_each(family, asked.form, [&](const Experiment& experiment) {
      if (!seen.insert(experiment.form).second)
        throw std::logic_error("two forms are called " + experiment.form);
      f(named.name, experiment);
    });
  }
}

/// Whether the software device reads the program as one for this target.
bool accepts(Device& device, const Experiment& experiment, const std::string& target) {
  try {
    const auto module = device.load(header(experiment, target) + named(experiment, "kernel"));
    device.info(device.kernel(module, "kernel"));
    device.unload(module);
    return true;
  } catch (const BadPtx&) {
    return false;
  }
}

/// For how many forms ptxas and the software device differ about targets.
std::size_t compare_targets(const Asked& asked, const std::string& family,
                            const std::vector<Experiment>& experiments) {
  std::size_t differences = 0;
  Device device;
  for (const std::string target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"}) {
    const std::set<std::string> refused = refused_for(asked.ptxas, target, experiments);
    for (const Experiment& experiment : experiments) {
      const bool accepted = accepts(device, experiment, target);
      if (accepted != refused.contains(experiment.form)) continue;
      ++differences;
      std::cout << fmt::format("{}: {}: for {} ptxas {} it and the device {}\n", family,
                               experiment.form, target, accepted ? "refuses" : "takes",
                               accepted ? "takes it" : "does not");
    }
  }
  return differences;
}

int assemble_all(const Asked& asked) {
  if (!std::ifstream(asked.ptxas).good()) {
    std::cout << "skipped: no ptxas at \"" << asked.ptxas << "\"\n";
    return skipped;
  }
  std::map<std::string, std::vector<Experiment>> by_family;
  for_each_asked(asked, [&](const char* family, const Experiment& experiment) {
    Experiment& kept = by_family[family].emplace_back(experiment);
    kept.buffers.clear();
    kept.judge = nullptr;
  });
  std::size_t programs = 0, refused = 0;
  for (const auto& [family, experiments] : by_family) {
    programs += experiments.size();
    if (asked.targets) {
      refused += compare_targets(asked, family, experiments);
      continue;
    }
    for (const std::string& error : assembled(asked.ptxas, experiments)) {
      std::cout << family << ": " << error << "\n";
      ++refused;
    }
  }
  std::cout << fmt::format("{} programs given to ptxas, {} {}\n", programs, refused,
                           asked.targets ? "differences" : "errors");
  return refused || !programs ? 1 : 0;
}

constexpr const char* lacking_head =
    "# Forms of the conformance tests that the software device lacks, one a line; renewed by\n"
    "# PLUMBLINE_RENEW=1.\n";

std::set<std::string> lines_of_file(const std::string& path) {
  std::set<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') lines.insert(line);
  return lines;
}

void print_differences(const Verdict& verdict) {
  for (const Difference& difference : verdict.first)
    std::cout << fmt::format("    {}: got {}, expected {}\n", difference.input, difference.got,
                             difference.expected);
}

/// Another bit in every byte: whatever is judged must be wrong then.
void corrupt(std::vector<Buffer>& buffers) {
  for (Buffer& buffer : buffers)
    for (std::byte& byte : buffer) byte ^= std::byte{0x40};
}

/// Runs one form and counts it.
void run(Machine& machine, const std::string& family, const Experiment& experiment, bool corrupted,
         Tally& tally, std::set<std::string>& missing) {
  ++tally.forms;
  Answer answer = machine.run(experiment);
  if (corrupted) {
    // What does not run is the matter of the other tests.
    if (answer.state != Answer::State::ran) {
      ++tally.skipped;
      return;
    }
    corrupt(answer.buffers);
    const Verdict verdict = experiment.judge(answer.buffers);
    ++(verdict.wrong > 0 ? tally.right : tally.wrong);
    if (verdict.wrong == 0) std::cout << fmt::format("BLIND: {}: {}\n", family, experiment.form);
    return;
  }
  using State = Answer::State;
  if (answer.state == State::skipped) {
    ++tally.skipped;
  } else if (answer.state == State::missing) {
    ++tally.missing;
    missing.insert(experiment.form);
    std::cout << fmt::format("missing: {}: {}: {}\n", family, experiment.form, answer.text);
  } else if (experiment.ending == Ending::trap) {
    ++(answer.trapped ? tally.right : tally.wrong);
    if (!answer.trapped)
      std::cout << fmt::format("WRONG: {}: {}: no trap; {}\n", family, experiment.form,
                               answer.text);
  } else if (answer.state == State::failed) {
    ++tally.wrong;
    std::cout << fmt::format("WRONG: {}: {}: {}\n", family, experiment.form, answer.text);
  } else {
    const Verdict verdict = experiment.judge(answer.buffers);
    tally.values += verdict.compared;
    // A form of which nothing is compared is not right.
    const bool right = verdict.wrong == 0 && verdict.compared > 0;
    ++(right ? tally.right : tally.wrong);
    if (!right)
      std::cout << fmt::format("WRONG: {}: {}: {} of {} values\n", family, experiment.form,
                               verdict.wrong, verdict.compared);
    print_differences(verdict);
    if (verdict.ulps >= 0)
      std::cout << fmt::format("largest error: {}: {:.3f} ulp at {}\n", experiment.form,
                               verdict.ulps, verdict.ulps_at);
  }
}

/// What is missing against the list of what may be: how many differ. A form that was there and is
/// missing has vanished; one that is there must leave the list.
std::size_t compare_lacking(const Asked& asked, const std::set<std::string>& forms,
                            const std::set<std::string>& missing) {
  std::set<std::string> lacking = lines_of_file(asked.lacking_file);
  std::size_t unexpected = 0;
  for (const std::string& form : forms) {
    if (missing.count(form) == lacking.count(form)) continue;
    ++unexpected;
    std::cout << (missing.count(form)
                      ? fmt::format("VANISHED: {}: not in the list of what the device lacks\n",
                                    form)
                      : fmt::format("NEW: {}: take it from the list of what the device lacks\n",
                                    form));
    if (missing.count(form))
      lacking.insert(form);
    else
      lacking.erase(form);
  }
  if (!unexpected || !std::getenv("PLUMBLINE_RENEW") || asked.lacking_file.empty())
    return unexpected;
  std::ofstream file(asked.lacking_file);
  file << lacking_head;
  for (const std::string& form : lacking) file << form << "\n";
  return file.good() ? 0 : unexpected;
}

int run_all(const Asked& asked) {
  std::unique_ptr<Machine> machine;
  if (asked.device == "cuda") {
    std::string reason;
    machine = cuda_machine(reason);
    if (!machine) {
      std::cout << "skipped: " << reason << "\n";
      return skipped;
    }
  } else {
    machine = software_machine(asked.choice);
  }
  std::cout << "conformance of " << machine->name() << "\n";
  std::map<std::string, Tally> tallies;
  std::set<std::string> missing, forms;
  for_each_asked(asked, [&](const char* family, const Experiment& experiment) {
    forms.insert(experiment.form);
    run(*machine, family, experiment, asked.corrupt, tallies[family], missing);
  });
  Tally all;
  for (const auto& [family, t] : tallies) {
    std::cout << fmt::format(
        "{}: {} forms, {} values: {} right, {} wrong, {} missing, {} skipped\n", family, t.forms,
        t.values, t.right, t.wrong, t.missing, t.skipped);
    all.forms += t.forms;
    all.wrong += t.wrong;
    all.right += t.right;
  }
  std::size_t unexpected = 0;
  if (asked.device == "software" && !asked.corrupt)
    unexpected = compare_lacking(asked, forms, missing);
  return all.wrong || unexpected || !all.forms ? 1 : 0;
}

int main_of(int argc, char** argv) {
  CLI::App app("Runs every instruction form of PTX against an independent computation.");
  Asked asked;
  app.add_option("--device", asked.device, "software, or cuda: a GPU behind libcuda.so.1")
      ->check(CLI::IsMember({"software", "cuda"}));
  app.add_option("--family", asked.families, "only these families");
  app.add_option("--form", asked.form, "only forms whose name has this text");
  app.add_flag("--list", asked.list, "print the forms instead");
  app.add_flag("--print", asked.print, "print the programs instead");
  app.add_option("--assemble", asked.ptxas, "give the programs to this ptxas instead");
  app.add_flag("--targets", asked.targets,
               "with --assemble: compare the targets that ptxas and the software device take");
  app.add_option("--lacking", asked.lacking_file, "the forms that the software device lacks");
  app.add_flag("--corrupt", asked.corrupt,
               "change every result, and fail where a form is not wrong then");
  app.add_option("--approximate", asked.choice.approximate, "of the software device")
      ->check(CLI::IsMember({"nearest", "down", "up", "either"}));
  app.add_option("--sums", asked.choice.sums, "of the software device")
      ->check(CLI::IsMember({"nearest", "ampere", "hopper"}));
  app.add_option("--order-seed", asked.choice.order_seed, "of the software device");
  CLI11_PARSE(app, argc, argv);
  if (asked.list || asked.print) {
    for_each_asked(asked, [&](const char* family, const Experiment& experiment) {
      if (asked.list)
        std::cout << family << " " << experiment.form << "\n";
      else
        std::cout << header(experiment) << named(experiment, "kernel");
    });
    return 0;
  }
  return asked.ptxas.empty() ? run_all(asked) : assemble_all(asked);
}

}  // namespace
}  // namespace plumbline::ptx::conformance

int main(int argc, char** argv) {
  try {
    return plumbline::ptx::conformance::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "conformance: " << error.what() << "\n";
    return 2;
  }
}
