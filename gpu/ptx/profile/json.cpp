// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "ptx/profile.hpp"
#include "ptx/read/place.hpp"

namespace plumbline::ptx {
namespace {

/// Writes objects and arrays; what is in one stands on lines of its own, or all on one line.
class Json {
 public:
  std::string text;

  void key(std::string_view name) {
    item();
    string(name);
    text += ": ";
    after_key_ = true;
  }
  void value(std::uint64_t number) {
    item();
    text += std::to_string(number);
  }
  void value(std::string_view words) {
    item();
    string(words);
  }
  template <class T>
  void member(std::string_view name, const T& what) {
    key(name);
    value(what);
  }
  void open(char bracket, bool lines = false) {
    item();
    text += bracket;
    fresh_ = true;
    depths_.push_back(lines);
  }
  void close(char bracket) {
    const bool lines = depths_.back();
    depths_.pop_back();
    if (lines && !fresh_) line();
    text += bracket;
    fresh_ = false;
  }

 private:
  /// What stands before a key or a value; nothing does after a key.
  void item() {
    if (!after_key_ && !depths_.empty()) {
      if (!fresh_) text += depths_.back() ? "," : ", ";
      if (depths_.back()) line();
    }
    fresh_ = after_key_ = false;
  }
  void line() {
    text += '\n';
    text.append(2 * depths_.size(), ' ');
  }
  void string(std::string_view words) {
    text += '"';
    for (const char c : words) {
      if (c == '"' || c == '\\') {
        text += '\\';
        text += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
        text += code;
      } else {
        text += c;
      }
    }
    text += '"';
  }
  std::vector<bool> depths_;
  bool fresh_ = true;  ///< nothing stands in the object or array yet
  bool after_key_ = false;
};

/// All figures, or those that are not 0.
void members(Json& json, const Tally& tally, bool all) {
  for (const auto& [name, figure] : figures)
    if (all || tally.*figure) json.member(name, tally.*figure);
}

void member(Json& json, std::string_view name, const Extent& extent) {
  json.key(name);
  json.open('[');
  for (const std::uint32_t size : {extent.x, extent.y, extent.z}) json.value(std::uint64_t{size});
  json.close(']');
}

void member(Json& json, const Occupancy& o) {
  json.key("occupancy");
  json.open('{');
  json.member("blocks", std::uint64_t{o.blocks});
  json.member("warps", std::uint64_t{o.blocks * o.warps_per_block});
  json.member("warps_at_most", std::uint64_t{o.warps_per_multiprocessor});
  json.member("limited_by", o.limits());
  json.member("registers", std::uint64_t{o.registers});
  json.member("registers_from", o.estimated ? "an estimate" : "machine code");
  json.member("shared_bytes", std::uint64_t{o.shared_bytes});
  json.member("blocks_by_registers", std::uint64_t{o.by_registers});
  json.member("blocks_by_shared_memory", std::uint64_t{o.by_shared});
  json.member("blocks_by_warps", std::uint64_t{o.by_warps});
  json.member("blocks_at_most", std::uint64_t{o.by_blocks});
  json.close('}');
}

}  // namespace

std::string json(const Profile& profile) {
  Json json;
  json.open('{', true);
  json.member("kernel", profile.kernel);
  json.member("name", readable(profile.kernel));
  json.member("compute",
              std::to_string(profile.compute_major) + "." + std::to_string(profile.compute_minor));
  json.member("launches", profile.launches());
  json.key("total");
  json.open('{', true);
  members(json, profile.total(), true);
  json.close('}');

  json.key("pipes");
  json.open('{', true);
  const auto pipes = profile.by_pipe();
  for (std::size_t i = 0; i < pipe_count; ++i) {
    if (pipes[i].warp_instructions == 0) continue;
    json.key(name(static_cast<Pipe>(i)));
    json.open('{');
    members(json, pipes[i], false);
    json.close('}');
  }
  json.close('}');

  json.key("shapes");
  json.open('[', true);
  for (const LaunchShape& shape : profile.shapes) {
    json.open('{', true);
    member(json, "grid", shape.grid);
    member(json, "block", shape.block);
    json.member("dynamic_shared_bytes", std::uint64_t{shape.dynamic_shared_bytes});
    json.member("launches", shape.launches);
    member(json, shape.occupancy);
    json.key("total");
    json.open('{');
    members(json, shape.tally, true);
    json.close('}');
    json.close('}');
  }
  json.close(']');

  json.key("lines");
  json.open('[', true);
  for (const ProfiledLine& line : by_line(profile)) {
    json.open('{');
    json.member("place", line.place);
    members(json, line.tally, false);
    json.close('}');
  }
  json.close(']');

  json.key("instructions");
  json.open('[', true);
  for (const ProfiledInstruction& one : profile.instructions) {
    if (one.tally.warp_instructions == 0) continue;
    json.open('{');
    json.member("ptx_line", std::uint64_t{one.ptx_line});
    json.member("text", one.text);
    if (!one.source.empty()) json.member("source", one.source);
    json.member("pipe", name(one.pipe));
    members(json, one.tally, false);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return json.text;
}

}  // namespace plumbline::ptx
