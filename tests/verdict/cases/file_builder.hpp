// SPDX-License-Identifier: Apache-2.0
// Case files made by hand for tests, right or wrong, without the writer under test.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/container.hpp"

namespace plumbline::cases {

/// A file under construction: everything can be spoilt before `file` is called.
struct FileBuilder {
  nlohmann::json header = nlohmann::json::object();
  nlohmann::json plumbline = {{"format_version", 1}};
  std::string data;

  void add(const std::string& tensor, const std::string& dtype, std::vector<int> shape,
           const std::string& bytes) {
    header[tensor] = {{"dtype", dtype},
                      {"shape", std::move(shape)},
                      {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data += bytes;
  }
  std::string file() const {
    nlohmann::json whole = header;
    whole["__metadata__"]["plumbline"] = plumbline.dump();
    return container(whole.dump(), data);
  }
};

}  // namespace plumbline::cases
