// SPDX-License-Identifier: Apache-2.0
#include "models/training/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <stdexcept>

#include "models/checkpoint/naming.hpp"
#include "models/training/terms.hpp"
#include "support/error.hpp"
#include "support/mapped_file.hpp"
#include "support/safetensors.hpp"
#include "support/sha256.hpp"
#include "support/strict_json.hpp"
#include "support/text.hpp"

namespace plumbline::training {

namespace {

using gpu::Parameter;

constexpr std::string_view file_prefix = "checkpoint-", file_ending = ".safetensors";

const checkpoint::Naming& naming_of(gpu::Architecture architecture) {
  switch (architecture) {
    case gpu::Architecture::bert:
      return checkpoint::bert_naming();
    case gpu::Architecture::llama_style:
      return checkpoint::llama_naming();
    default:
      return checkpoint::gpt2_naming();
  }
}

/// One tensor of a file and the numbers of a flat buffer that it holds.
struct Entry {
  std::string name;
  const Parameter* parameter;
  std::vector<float> State::*buffer;
  bool transposed;  ///< the file has [in, out]

  std::vector<std::int64_t> shape() const {
    std::vector<std::int64_t> shape = parameter->shape;
    if (transposed) std::reverse(shape.begin(), shape.end());
    return shape;
  }
};

/// In the order of the file.
std::vector<Entry> entries(const gpu::ModelConfiguration& model,
                           const gpu::ParameterLayout& layout) {
  const checkpoint::Naming& naming = naming_of(model.architecture);
  std::vector<Entry> all;
  const auto add = [&](const std::string& prefix, std::vector<float> State::*buffer) {
    for (const Parameter& p : layout.all())
      all.push_back(
          {prefix + p.name, &p, buffer, naming.in_by_out.contains(checkpoint::pattern_of(p.name))});
  };
  add("", &State::parameters);
  add("optimizer.mean.", &State::mean);
  add("optimizer.mean_square.", &State::mean_square);
  return all;
}

/// The numbers `from` [rows, columns] as [columns, rows].
std::vector<float> transpose(std::span<const float> from, std::int64_t rows, std::int64_t columns) {
  std::vector<float> to(from.size());
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
  return to;
}

/// The numbers of a tensor as the file has them.
std::vector<float> numbers_of(const State& state, const Entry& entry) {
  const std::vector<float>& buffer = state.*entry.buffer;
  const std::span<const float> own(buffer.data() + entry.parameter->offset,
                                   entry.parameter->size());
  if (entry.transposed) return transpose(own, entry.parameter->shape[0], entry.parameter->shape[1]);
  return {own.begin(), own.end()};
}

void put_numbers(State& state, const Entry& entry, const TensorView& tensor) {
  std::vector<float> numbers(entry.parameter->size());
  std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  if (entry.transposed)
    numbers = transpose(numbers, entry.parameter->shape[1], entry.parameter->shape[0]);
  std::copy(numbers.begin(), numbers.end(),
            (state.*entry.buffer).begin() + static_cast<std::ptrdiff_t>(entry.parameter->offset));
}

/// What the digest is taken of before the tensors' bytes.
void add_metadata(Sha256& sum, const std::map<std::string, std::string>& metadata) {
  for (const auto& [key, value] : metadata) {
    if (key == "sha256") continue;
    const std::string line = fmt::format("{} {}\n{}\n", key, value.size(), value);
    sum.add(std::as_bytes(std::span(line)));
  }
}

const std::string& field(const SafetensorsView& file, const std::string& name) {
  const auto found = file.metadata.find(name);
  if (found == file.metadata.end())
    throw BadInput("metadata", "without \"" + name + "\"", "a checkpoint of a training run");
  return found->second;
}

Terms terms_in(const SafetensorsView& file) {
  return parse_strict_json(field(file, "terms"), "metadata terms");
}

long updates_from(const std::string& text) {
  long updates = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), updates);
  if (error != std::errc() || end != text.data() + text.size() || updates < 0)
    throw BadInput("metadata updates", in_quotes(text), "a number of updates");
  return updates;
}

std::string shown(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// The tensors' bytes against the digest in the metadata.
void check_digest(const SafetensorsView& file) {
  const std::string& said = field(file, "sha256");
  // The view is sorted by name, the digest follows the file's order, which is that of addresses.
  std::vector<const TensorView*> tensors;
  for (const auto& [name, tensor] : file.tensors) tensors.push_back(&tensor);
  std::sort(tensors.begin(), tensors.end(), [](const TensorView* a, const TensorView* b) {
    return a->bytes.data() < b->bytes.data();
  });
  Sha256 sum;
  add_metadata(sum, file.metadata);
  for (const TensorView* tensor : tensors) sum.add(tensor->bytes);
  const std::string digest = sum.digest();
  if (digest != said)
    throw BadInput("SHA-256 of the contents", digest,
                   in_quotes(said, 64) + ", as its metadata says: the file is damaged");
}

State read_state(const SafetensorsView& file, const gpu::ModelConfiguration& model,
                 const gpu::ParameterLayout& layout) {
  State state;
  state.updates = updates_from(field(file, "updates"));
  for (const auto buffer : {&State::parameters, &State::mean, &State::mean_square})
    (state.*buffer).assign(layout.size(), 0.0f);
  std::set<std::string> known;
  for (const Entry& entry : entries(model, layout)) {
    known.insert(entry.name);
    const auto found = file.tensors.find(entry.name);
    const std::string place = "tensor " + in_quotes(entry.name, 200);
    if (found == file.tensors.end()) throw BadInput(place, "missing", shown(entry.shape()));
    const TensorView& tensor = found->second;
    if (tensor.dtype != Dtype::f32 || tensor.shape != entry.shape())
      throw BadInput(place, fmt::format("{} {}", name(tensor.dtype), shown(tensor.shape)),
                     "F32 " + shown(entry.shape()));
    put_numbers(state, entry, tensor);
  }
  for (const auto& [name, tensor] : file.tensors) {
    if (!known.contains(name))
      throw BadInput("tensor " + in_quotes(name, 200), "there", "no tensor of that name");
  }
  return state;
}

/// Runs `body` on the parsed file; what it throws names the file.
template <class Body>
auto in_file(const std::filesystem::path& path, Body body) {
  const MappedFile mapped(path);
  try {
    return body(parse_safetensors(mapped.bytes()));
  } catch (const BadInput& error) {
    throw BadInput(path_in_quotes(path), error);
  }
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const gpu::ModelConfiguration& model,
                     const gpu::ParameterLayout& layout, const Terms& terms, const State& state) {
  for (const auto buffer : {&State::parameters, &State::mean, &State::mean_square}) {
    if ((state.*buffer).size() != layout.size())
      throw std::invalid_argument("a buffer has not the layout's size");
  }
  std::map<std::string, std::string> metadata{
      {"format", "pt"}, {"terms", terms.dump()}, {"updates", std::to_string(state.updates)}};
  const std::vector<Entry> all = entries(model, layout);
  std::vector<TensorHeader> headers;
  for (const Entry& entry : all) headers.push_back({entry.name, Dtype::f32, entry.shape()});

  // The digest stands before what it is taken of.
  Sha256 sum;
  add_metadata(sum, metadata);
  for (const Entry& entry : all) {
    const std::vector<float> numbers = numbers_of(state, entry);
    sum.add(std::as_bytes(std::span(numbers)));
  }
  metadata["sha256"] = sum.digest();

  SafetensorsWriter writer(path, headers, metadata);
  for (const Entry& entry : all) {
    const std::vector<float> numbers = numbers_of(state, entry);
    writer.write(std::as_bytes(std::span(numbers)));
  }
  writer.commit();
}

namespace {

/// The number of updates in a checkpoint's name; none for another name.
std::optional<long> updates_in_name(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (name.size() <= file_prefix.size() + file_ending.size() || !name.starts_with(file_prefix) ||
      !name.ends_with(file_ending))
    return {};
  const char *begin = name.data() + file_prefix.size(),
             *end = name.data() + name.size() - file_ending.size();
  long updates = -1;
  const auto [last, wrong] = std::from_chars(begin, end, updates);
  if (wrong != std::errc() || last != end) return {};
  return updates;
}

/// A file that was renamed would be taken for the newest, or for another model.
void check_name(const std::filesystem::path& path, const SafetensorsView& file) {
  const long updates = updates_from(field(file, "updates"));
  const std::optional<long> named = updates_in_name(path);
  if (named && *named != updates)
    throw BadInput("metadata updates", std::to_string(updates),
                   fmt::format("{}, as the file's name says: it was renamed, from {}", *named,
                               checkpoint_path({}, updates).string()));
}

}  // namespace

State load_checkpoint(const std::filesystem::path& path, const gpu::ModelConfiguration& model,
                      const gpu::ParameterLayout& layout, const Terms& terms) {
  std::vector<Difference> others;
  State state = in_file(path, [&](const SafetensorsView& file) {
    const Terms said = terms_in(file);
    check_digest(file);
    check_name(path, file);
    others = differences(said, terms);
    return others.empty() ? read_state(file, model, layout) : State();
  });
  if (!others.empty()) throw OtherTerms(path, std::move(others));
  return state;
}

Terms read_terms(const std::filesystem::path& path) {
  return in_file(path, [](const SafetensorsView& file) {
    check_digest(file);
    return terms_in(file);
  });
}

Terms unchecked_terms(const std::filesystem::path& path) { return in_file(path, terms_in); }

std::filesystem::path checkpoint_path(const std::filesystem::path& folder, long updates) {
  return folder / fmt::format("{}{:08}{}", file_prefix, updates, file_ending);
}

std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::pair<long, std::filesystem::path>> found;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (const auto updates = updates_in_name(entry->path()))
      found.emplace_back(*updates, entry->path());
  }
  if (error)
    throw BadInput("run folder", path_in_quotes(folder) + ": " + error.message(),
                   "a folder that can be read");
  std::sort(found.begin(), found.end());
  std::vector<std::filesystem::path> paths;
  for (auto& [updates, path] : found) paths.push_back(std::move(path));
  return paths;
}

}  // namespace plumbline::training
