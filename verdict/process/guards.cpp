// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/guards.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/text.hpp"

namespace plumbline::kernel_process {

std::optional<std::ptrdiff_t> first_changed(std::span<const std::byte> memory, std::size_t begin,
                                            std::size_t bytes) {
  const auto changed_in = [&](std::size_t from, std::size_t to) -> std::optional<std::ptrdiff_t> {
    const auto found = std::find_if(memory.begin() + from, memory.begin() + to,
                                    [](std::byte value) { return value != canary; });
    if (found == memory.begin() + to) return std::nullopt;
    return found - memory.begin() - static_cast<std::ptrdiff_t>(begin);
  };
  const auto before = changed_in(0, begin);
  return before ? before : changed_in(begin + bytes, memory.size());
}

std::string outside_words(const std::string& output, std::ptrdiff_t offset) {
  return fmt::format("the kernel wrote outside {}: first at byte {} from its start", output,
                     offset);
}

std::string between_rows_words(const std::string& output, std::size_t offset) {
  return fmt::format("the kernel wrote between the rows of {}: first at byte {} from its start",
                     output, offset);
}

std::string opened_words(const std::string& array, std::ptrdiff_t offset, bool written) {
  return fmt::format(
      "the kernel made memory outside {} accessible and {} there: {} byte {} from "
      "its start",
      array, written ? "wrote" : "read", written ? "first at" : "in the page at", offset);
}

std::string changed_words(const std::string& input) {
  return "the kernel changed its input " + input;
}

std::string device_check_words(const std::string& words) {
  return "the software device stopped the kernel: " + showable_line(words);
}

std::string device_error_words(const std::string& words) {
  return "the kernel left an error on the device: " + showable(words);
}

std::string thrown_words(const char* what) {
  return std::string("the kernel threw an exception") + (what ? ": " + showable(what) : "");
}

CallEnd error_end(int status, const std::string& message) {
  CallEnd end;
  end.failure = fmt::format("the kernel returned {}{}", status,
                            message.empty() ? " without a message" : ": " + showable_line(message));
  end.device_lost = status == PLUMBLINE_DEVICE_LOST;
  end.kind = end.device_lost ? failure_kind::device_lost : failure_kind::returned_error;
  return end;
}

}  // namespace plumbline::kernel_process
