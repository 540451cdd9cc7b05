// SPDX-License-Identifier: Apache-2.0
// A profile as numbers with a space behind each, and texts with their lengths before them.
#include <charconv>
#include <stdexcept>

#include "ptx/profile.hpp"

namespace plumbline::ptx {
namespace {

constexpr std::string_view heading = "plumbline profile 1\n";

class Writer {
 public:
  std::string text{heading};

  template <class Number>
  void operator()(Number& value) {
    text += std::to_string(value) + " ";
  }
  void operator()(std::string& value) { text += std::to_string(value.size()) + ":" + value + " "; }
  template <class T>
  std::size_t count(std::vector<T>& all) {
    std::size_t count = all.size();
    (*this)(count);
    return count;
  }
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {
    if (!rest_.starts_with(heading)) fail();
    rest_.remove_prefix(heading.size());
  }

  template <class Number>
  void operator()(Number& value) {
    number(value);
    expect(' ');
  }
  void operator()(std::string& value) {
    std::size_t size = 0;
    number(size);
    expect(':');
    if (size > rest_.size()) fail();
    value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    expect(' ');
  }
  template <class T>
  std::size_t count(std::vector<T>& all) {
    std::size_t count = 0;
    (*this)(count);
    if (count > rest_.size()) fail();
    all.resize(count);
    return count;
  }
  void end() const {
    if (!rest_.empty()) fail();
  }

 private:
  [[noreturn]] static void fail() { throw std::invalid_argument("not a profile's record"); }
  template <class Number>
  void number(Number& value) {
    const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (result.ec != std::errc{}) fail();
    rest_.remove_prefix(static_cast<std::size_t>(result.ptr - rest_.data()));
  }
  void expect(char c) {
    if (rest_.empty() || rest_.front() != c) fail();
    rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

template <class Visitor>
void visit(Visitor& v, Tally& tally) {
  for (const auto& [_, figure] : figures) v(tally.*figure);
}
template <class Visitor>
void visit(Visitor& v, Extent& extent) {
  v(extent.x), v(extent.y), v(extent.z);
}
template <class Visitor>
void visit(Visitor& v, Occupancy& o) {
  for (auto* number : {&o.warps_per_block, &o.warps_per_multiprocessor, &o.registers, &o.blocks,
                       &o.by_registers, &o.by_shared, &o.by_warps, &o.by_blocks})
    v(*number);
  auto estimated = static_cast<unsigned>(o.estimated);
  v(o.shared_bytes), v(estimated);
  o.estimated = estimated != 0;
}
template <class Visitor>
void visit(Visitor& v, Profile& profile) {
  v(profile.kernel), v(profile.compute_major), v(profile.compute_minor);
  v.count(profile.shapes);
  for (LaunchShape& shape : profile.shapes) {
    visit(v, shape.grid), visit(v, shape.block), visit(v, shape.occupancy), visit(v, shape.tally);
    v(shape.dynamic_shared_bytes), v(shape.launches);
  }
  v.count(profile.instructions);
  for (ProfiledInstruction& one : profile.instructions) {
    auto pipe = static_cast<unsigned>(one.pipe);
    v(one.ptx_line), v(one.text), v(one.source), v(pipe), visit(v, one.tally);
    if (pipe >= pipe_count) throw std::invalid_argument("not a profile's record");
    one.pipe = static_cast<Pipe>(pipe);
  }
}

}  // namespace

std::string record(const Profile& profile) {
  Writer writer;
  Profile copy = profile;
  visit(writer, copy);
  return std::move(writer.text);
}

Profile profile_from(std::string_view record) {
  Reader reader(record);
  Profile profile;
  visit(reader, profile);
  reader.end();
  if (profile.shapes.empty()) throw std::invalid_argument("not a profile's record");
  return profile;
}

}  // namespace plumbline::ptx
