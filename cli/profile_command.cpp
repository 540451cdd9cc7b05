// SPDX-License-Identifier: Apache-2.0
// plumbline profile: what the kernels of a program do, counted by the software device.
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>

#include "cli/command.hpp"
#include "cli/installation.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "ptx/profile.hpp"
#include "support/files_in_use.hpp"

namespace plumbline::cli {
namespace {

struct ProfileOptions {
  std::string json, kernel;
  std::size_t lines = 10;
  std::vector<std::string> words;  ///< the program and its arguments, or options of verify
};

/// A folder in which processes leave their profiles.
class Folder {
 public:
  Folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "plumbline-profile-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw MachineLacks("a temporary folder " + name + ": " + std::strerror(errno));
    path_ = name;
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The program, and its arguments.
std::vector<std::string> words_of(const ProfileOptions& options) {
  std::vector<std::string> words;
  if (!options.kernel.empty()) {
    const std::string verify = (program_prefix() / "bin/plumbline").string();
    words = {verify, "verify", "--kernel", options.kernel, "--device", "software"};
  } else if (options.words.empty()) {
    throw BadInput("the program", "missing",
                   "one that runs CUDA kernels, or --kernel and a library");
  } else if (options.words[0].find('/') != std::string::npos) {
    will_read("the program", options.words[0]);
  }
  words.insert(words.end(), options.words.begin(), options.words.end());
  return words;
}

volatile std::sig_atomic_t running = 0;  ///< the program's process
void hand_on(int signal) {
  if (running > 0) kill(running, signal);
}

/// A terminal's Ctrl-C ends the program, which is told of it by itself, and not its report.
class Signals {
 public:
  Signals() {
    before_[0] = std::signal(SIGINT, SIG_IGN);
    before_[1] = std::signal(SIGTERM, hand_on);
    before_[2] = std::signal(SIGHUP, hand_on);
  }
  ~Signals() {
    std::signal(SIGINT, before_[0]);
    std::signal(SIGTERM, before_[1]);
    std::signal(SIGHUP, before_[2]);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void (*before_[3])(int);
};

/// @returns its exit status; 128 and the signal's number where a signal ended it.
int run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &interrupt);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const Signals signals;
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw BadInput("the program", in_quotes(words[0]),
                   std::string("one that can be run (") + std::strerror(error) + ")");
  running = process;
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The kernels of all processes, those with the most instructions first.
std::vector<ptx::Profile> profiles_in(const std::filesystem::path& folder) {
  std::vector<ptx::Profile> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    // Empty, or not whole: of a process that ended before it had anything.
    if (!name.starts_with("kernel-") || name.ends_with(".new") || entry.file_size() == 0) continue;
    const ptx::Profile one = ptx::profile_from(read_file(entry.path()));
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const auto& other) { return other.same_kernel(one); });
    if (same == all.end())
      all.push_back(one);
    else
      *same += one;
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    const auto work = [](const auto& p) { return p.total().warp_instructions; };
    return work(a) != work(b) ? work(a) > work(b) : a.kernel < b.kernel;
  });
  return all;
}

std::string json_of(const std::vector<ptx::Profile>& kernels) {
  std::string text = "{\"format\": \"plumbline profile\", \"version\": 1, \"kernels\": [";
  for (const auto& kernel : kernels)
    text += (&kernel == kernels.data() ? "\n" : ",\n") + json(kernel);
  return showable_json(text + "\n]}\n");
}

int profile(const ProfileOptions& options) {
  const std::vector<std::string> words = words_of(options);
  const auto device = program_prefix() / "lib/software-device";
  if (!std::filesystem::exists(device / "libcudart.so.13"))
    throw MachineLacks(device.string() +
                       ": no software device; it is built by the target software_device");
  Report file(options.json, "--json");
  const Folder folder;
  const auto told = folder / "told";
  std::ofstream{told};
  const char* path = std::getenv("LD_LIBRARY_PATH");
  const std::string libraries = device.string() + (path && *path ? ":" + std::string(path) : "");
  setenv("LD_LIBRARY_PATH", libraries.c_str(), 1);
  setenv("PLUMBLINE_PROFILE", folder.path().c_str(), 1);
  setenv("PLUMBLINE_SANITIZE", told.c_str(), 1);
  // verify would ask several devices, on which a kernel does the same.
  if (!options.kernel.empty()) setenv("PLUMBLINE_DEVICE_ORDER", "0", 0);
  const int status = run_program(words);

  const auto kernels = profiles_in(folder.path());
  const std::string words_told = read_file(told);
  const bool stopped = words_told.find("fault") != std::string::npos,
             refused = words_told.find("refused") != std::string::npos;
  if (refused) std::cerr << "plumbline: a launch was refused (see above); it is not counted\n";
  if (kernels.empty() && !stopped) {
    if (refused) return status != 0 ? status : verdict_against;
    std::cerr << "plumbline: no kernel was launched on the software device (one by CUDA's runtime: "
                 "link the program with -cudart shared)\n";
    return status != 0 ? status : bad_input;
  }
  std::uint64_t launches = 0;
  for (const auto& kernel : kernels) launches += kernel.launches();
  std::cerr << "plumbline: " << launches << (launches == 1 ? " launch of " : " launches of ")
            << counted(kernels.size(), "kernel") << "; what is counted is PTX, not machine code\n";
  for (const auto& kernel : kernels) std::cerr << "\n" << showable(report(kernel, options.lines));
  if (file) file.write(json_of(kernels));
  if (!stopped) return status == 0 && refused ? verdict_against : status;
  std::cerr << "plumbline: a kernel was stopped (see above); its launch is not counted\n";
  return verdict_against;
}

}  // namespace

void add_profile(CLI::App& app, Run& run) {
  auto options = std::make_shared<ProfileOptions>();
  auto* command = app.add_subcommand("profile", profile_description);
  writes(command
             ->add_option("--json", options->json,
                          "Write all that was counted as JSON (-: to standard output)")
             ->type_name("FILE")
             ->check(not_empty()));
  command->add_option("--lines", options->lines, "Lines of the source to show for each kernel")
      ->check(whole_number_from(0, 1000000))
      ->capture_default_str();
  reads(command
            ->add_option("--kernel", options->kernel,
                         "Instead of a program: a library that verify judges on the cases that its "
                         "options choose, which come after this one")
            ->type_name("LIBRARY")
            ->check(not_empty()));
  command
      ->add_option("program", options->words,
                   "A program and its arguments; with --kernel, options of verify")
      ->type_name("WORD");
  command->footer(
      "A program that nvcc has compiled is linked with -cudart shared and has PTX, as nvcc makes "
      "it;\n"
      "-lineinfo has lines of the source named. One that loads PTX by CUDA's driver (Numba's and\n"
      "CuPy's do) needs nothing. The report goes to standard error, and the figures are explained "
      "in\n"
      "docs/software_device.md.\n\n"
      "Exit status: the program's; 1 where a kernel was stopped or a launch refused, 2 where none "
      "was launched.");
  command->callback([options, &run] { run = [options] { return profile(*options); }; });
}

}  // namespace plumbline::cli
