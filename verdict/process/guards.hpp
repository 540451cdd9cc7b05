// SPDX-License-Identifier: Apache-2.0
// What lies around the arrays of a call, and the words for what a kernel did there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "verdict/process/kernel_call.hpp"

namespace plumbline::kernel_process {

/// What the guards around an output hold: no value a kernel would write by chance.
inline constexpr std::byte canary{0xA5};
/// What an output holds before the call: NaN in every format.
inline constexpr std::byte unwritten{0xFF};
/// Room for what a kernel says about its error, with the zero at its end.
inline constexpr std::size_t message_bytes = 512;

/// Of memory that holds an array of `bytes` bytes from `begin` on and canaries elsewhere: the first
/// changed canary, as an offset from the array's start.
std::optional<std::ptrdiff_t> first_changed(std::span<const std::byte> memory, std::size_t begin,
                                            std::size_t bytes);

std::string outside_words(const std::string& output, std::ptrdiff_t offset);
/// Of an output with rows that do not lie one after the other.
std::string between_rows_words(const std::string& output, std::size_t offset);
/// @param written or only read
std::string opened_words(const std::string& array, std::ptrdiff_t offset, bool written);
std::string changed_words(const std::string& input);
/// @param words of the process: which error, of which function.
std::string device_check_words(const std::string& words);
std::string device_error_words(const std::string& words);
/// @param what the exception's own words, or null.
std::string thrown_words(const char* what);
/// The end of a call that returned a status other than 0.
CallEnd error_end(int status, const std::string& message);

}  // namespace plumbline::kernel_process
