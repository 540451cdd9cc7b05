// SPDX-License-Identifier: Apache-2.0
// The exceptions of device.hpp.
#include <utility>

#include "ptx/device.hpp"
#include "ptx/read/place.hpp"

namespace plumbline::ptx {
namespace {

std::string axes(const Extent& at) {
  return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) +
         ")";
}

/// On one line, without the white space of the file.
std::string sentence(const Fault::Where& where, const std::string& text) {
  std::string all = text + "\n  in " + brief_name(where.kernel) + ", block " + axes(where.block) +
                    ", thread " + axes(where.thread);
  if (!where.instruction.empty())
    all += "\n  at PTX line " + std::to_string(where.ptx_line) + ": " +
           brief_instruction(where.instruction);
  if (!where.source.empty()) all += "\n  from " + where.source;
  all += called_at(where.inlined_at);
  return all;
}

}  // namespace

BadPtx::BadPtx(std::size_t line, const std::string& text)
    : std::runtime_error("PTX line " + std::to_string(line) + ": " + shown(text)), line(line) {}

Refused::Refused(Reason reason, const std::string& text)
    : std::runtime_error(text), reason(reason) {}

Fault::Fault(Kind kind, Where where, const std::string& text)
    : std::runtime_error(sentence(where, text)), kind(kind), where(std::move(where)) {}

}  // namespace plumbline::ptx
