// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "golden/golden.hpp"
#include "golden/golden_case.hpp"
#include "golden/vector_file.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/sha256.hpp"

namespace plumbline::golden {
namespace {

using reference::Interval;
using reference::MpReal;

double nearest(const MpReal& x) { return mpfr_get_d(x.backend().data(), MPFR_RNDN); }

/// The golden double of one number, or NaN if the enclosure does not certify it.
double certified(const MpReal& value, const Interval& enclosure) {
  const MpReal lower = reference::lower(enclosure), upper = reference::upper(enclosure);
  if (lower <= 0 && upper >= 0 && MpReal(upper - lower) <= MpReal("1e-40")) return 0.0;
  const double golden = nearest(value);
  if (nearest(lower) == golden && nearest(upper) == golden) return golden;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

GoldenCase solve(const Problem& problem) {
  const methods::Results<MpReal> values = evaluate<MpReal>(problem);
  const Tensors<Interval> enclosures = evaluate<Interval>(problem).tensors;
  GoldenCase golden{problem, {}};
  for (const auto& [name, tensor] : values.tensors) {
    Tensor<double>& out = golden.outputs[name];
    out.shape = tensor.shape;
    for (std::size_t n = 0; n < tensor.data.size(); ++n) {
      out.data.push_back(certified(tensor.data[n], enclosures.at(name).data[n]));
      if (std::isnan(out.data.back())) {
        throw std::logic_error(fmt::format("{} {}: {}[{}] is not certified to the last bit",
                                           problem.method, problem.name, name, n));
      }
    }
  }
  for (std::size_t row : values.empty_rows) {
    golden.outputs.at("lse").data[row] = -std::numeric_limits<double>::infinity();
  }
  return golden;
}

std::string vectors_text(const std::string& method) {
  std::vector<GoldenCase> solved;
  for (const Problem& problem : problems(method)) solved.push_back(solve(problem));
  return to_json_text(method, solved);
}

std::string manifest_text(const std::vector<std::pair<std::string, std::string>>& files) {
  nlohmann::ordered_json manifest;
  manifest["format"] = "plumbline-golden-manifest-1";
  for (const auto& [file, text] : files) {
    manifest["files"].push_back({{"file", file}, {"sha256", sha256(text)}});
  }
  return manifest.dump(1) + "\n";
}

namespace {

/// The schema with its list of methods anew. @throws BadInput if there is no such list.
std::string schema_with_all_names(const std::filesystem::path& file) {
  std::string schema = read_file(file);
  const std::string begin = "\"method\": {\"enum\": [", end = "]}";
  const std::size_t list = schema.find(begin), from = list + begin.size();
  const std::size_t to = list == std::string::npos ? list : schema.find(end, from);
  if (to == std::string::npos) {
    throw BadInput(file.string(), "no list of methods", begin + " ... " + end);
  }
  std::string names;
  std::size_t line = 100;  // of characters, as the rest of the file has them
  for (const methods::MethodInfo& method : methods::all_methods()) {
    const std::string name = fmt::format("\"{}\"", method.name);
    if (!names.empty()) names += ",";
    if (line + name.size() + 2 > 100) {
      names += "\n     ";
      line = 5;
    }
    names += " " + name;
    line += name.size() + 2;
  }
  return schema.replace(from, to - from, names + "\n    ");
}

}  // namespace

std::vector<std::filesystem::path> golden_generate(const std::filesystem::path& folder) {
  // Read first: where it is not as expected, nothing has been written.
  const auto schema = folder / "schema.json";
  std::string schema_text;
  if (std::filesystem::exists(schema)) schema_text = schema_with_all_names(schema);
  std::filesystem::create_directories(folder / "vectors");
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<std::filesystem::path> written;
  for (const methods::MethodInfo& method : methods::all_methods()) {
    const std::string file = fmt::format("vectors/{}.json", method.name);
    files.emplace_back(file, vectors_text(method.name));
    write_file(folder / file, files.back().second);
    written.push_back(folder / file);
  }
  write_file(folder / "manifest.json", manifest_text(files));
  if (!schema_text.empty()) {
    write_file(schema, schema_text);
    written.push_back(schema);
  }
  written.push_back(folder / "manifest.json");
  return written;
}

}  // namespace plumbline::golden
