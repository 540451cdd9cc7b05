// SPDX-License-Identifier: Apache-2.0
// cuLink: of PTX alone. What it gives back is one PTX with all of them, for cuModuleLoadData.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "ptx/cuda_driver/driver.hpp"
#include "ptx/cuda_driver/jit_options.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::run;

namespace {

/// CUlinkState
struct Link {
  cuda_driver::JitOptions options;
  std::string ptx;
};

Handles<Link>& links() {
  static auto& all = *new Handles<Link>;
  return all;
}

enum Input : int { input_ptx = 1, input_kinds = 6 };

/// Without the directives that a module has once, and without lines of the source, whose files are
/// counted anew in every PTX. Each leaves its line empty.
std::string without_directives(const std::string& ptx) {
  std::string text;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::string line = ptx.substr(at, end - at);
    const std::size_t first = line.find_first_not_of(" \t");
    const std::string rest = first == line.npos ? "" : line.substr(first);
    const bool once = rest.starts_with(".version") || rest.starts_with(".target") ||
                      rest.starts_with(".address_size");
    const bool source = rest.starts_with(".file") || rest.starts_with(".loc");
    if (!once && !source) text += line;
    text += '\n';
    at = end + 1;
  }
  return text;
}

void add(Process& process, Link& link, int kind, std::string text) {
  expect(kind >= 0 && kind < input_kinds);
  try {
    if (kind != input_ptx) {
      throw Refused(
          Refused::Reason::not_supported,
          "cuLinkAddData of something else than PTX, which is all that this device links");
    }
    const auto target = target_of(text);
    const Properties& device = process.properties();
    if (!target || !target->runs_on(device.compute_major, device.compute_minor)) {
      throw BadPtx(1, target ? "PTX for " + target->name() + ", which this device does not run"
                             : "there is no .target");
    }
  } catch (const std::runtime_error& error) {
    link.options.tell(error.what());
    throw;
  }
  link.ptx += link.ptx.empty() ? text : without_directives(text);
  if (!link.ptx.ends_with('\n')) link.ptx += '\n';
}

}  // namespace

PLUMBLINE_CUDA Error cuLinkCreate_v2(unsigned count, const int* options, void** values,
                                     Link** link) {
  return run([&](Process&) {
    expect(link != nullptr);
    *link = &links().add({cuda_driver::JitOptions(count, options, values), {}});
  });
}

PLUMBLINE_CUDA Error cuLinkAddData_v2(Link* link, int kind, void* data, std::size_t bytes,
                                      const char*, unsigned, const int*, void**) {
  return run([&](Process& process) {
    expect(data != nullptr);
    std::string text(static_cast<const char*>(data), bytes);
    add(process, links().of(link), kind, text.substr(0, text.find('\0')));
  });
}

PLUMBLINE_CUDA Error cuLinkAddFile_v2(Link* link, int kind, const char* path, unsigned, const int*,
                                      void**) {
  return run([&](Process& process) {
    expect(path != nullptr);
    Link& known = links().of(link);
    std::ifstream file(path, std::ios::binary);
    expect(file.good(), Error::file_not_found);
    add(process, known, kind, {std::istreambuf_iterator<char>(file), {}});
  });
}

/// The image is the link's, and ends with it.
PLUMBLINE_CUDA Error cuLinkComplete(Link* link, const void** image, std::size_t* bytes) {
  return run([&](Process& process) {
    expect(image != nullptr);
    Link& known = links().of(link);
    expect(!known.ptx.empty());
    try {  // what is wrong with it is told here
      process.device().unload(process.device().load(known.ptx));
    } catch (const std::runtime_error& error) {
      known.options.tell(error.what());
      throw;
    }
    known.options.tell("");
    *image = known.ptx.c_str();
    if (bytes) *bytes = known.ptx.size() + 1;
  });
}

PLUMBLINE_CUDA Error cuLinkDestroy(Link* link) {
  return run([&](Process&) { links().remove(link); });
}
