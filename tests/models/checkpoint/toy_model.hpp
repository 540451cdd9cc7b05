// SPDX-License-Identifier: Apache-2.0
// A model of six numbers a layer with the peculiarities of GPT-2's files, and files of it made by
// hand, without the writer under test.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/checkpoint/naming.hpp"
#include "reference/core/linear_algebra.hpp"
#include "tests/support/container.hpp"

namespace plumbline::checkpoint {

/// An embedding, one linear layer that files hold as [in, out], and its bias.
struct ToyModel {
  reference::Matrix<double> table = reference::Matrix<double>::Zero(2, 1);   ///< t.table
  reference::Matrix<double> weight = reference::Matrix<double>::Zero(2, 3);  ///< t.h.0.weight
  reference::Vector<double> bias = reference::Vector<double>::Zero(2);       ///< t.h.0.bias

  template <class Self, class Visit>
  static void each(Self& self, const Visit& visit) {
    visit(std::string("t.table"), self.table);
    visit(std::string("t.h.0.weight"), self.weight);
    visit(std::string("t.h.0.norm.bias"), self.bias);
  }
};

inline Naming toy_naming() {
  return {.model = "the toy",
          .prefix = "t.",
          .heads = {"head"},
          .in_by_out = {"t.h.*.weight"},
          .old_endings = {{".norm.beta", ".norm.bias"}},
          .tied = {{"head.weight", "t.table"}},
          .besides = {"t.h.*.mask"}};
}

/// A file under construction: everything can be spoilt before `file` is called.
struct ToyFile {
  struct Entry {
    std::string dtype;
    std::vector<int> shape;
    std::string bytes;
  };
  std::map<std::string, Entry> tensors{
      {"t.table", {"F32", {2, 1}, raw<float>({1, 2})}},
      {"t.h.0.weight", {"F32", {3, 2}, raw<float>({11, 21, 12, 22, 13, 23})}},
      {"t.h.0.norm.bias", {"F32", {2}, raw<float>({-1, 0.5})}}};

  void rename(const std::string& from, const std::string& to) {
    auto node = tensors.extract(from);
    node.key() = to;
    tensors.insert(std::move(node));
  }

  std::string file() const {
    nlohmann::json header;
    std::string data;
    for (const auto& [name, entry] : tensors) {
      header[name] = {{"dtype", entry.dtype},
                      {"shape", entry.shape},
                      {"data_offsets", {data.size(), data.size() + entry.bytes.size()}}};
      data += entry.bytes;
    }
    return container(header.dump(), data);
  }
};

}  // namespace plumbline::checkpoint
