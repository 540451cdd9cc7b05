// SPDX-License-Identifier: Apache-2.0
// Safetensors files made by hand for tests, right or wrong, without the writer under test.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace plumbline {

inline std::string with_length(std::uint64_t length, const std::string& rest) {
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + rest;
}

/// Header length, header, data.
inline std::string container(const std::string& header, const std::string& data = "") {
  return with_length(header.size(), header + data);
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace plumbline
