// SPDX-License-Identifier: Apache-2.0
#include "cli/shape_options.hpp"

#include "cli/lists.hpp"

namespace plumbline::cli {

void add_shape_options(CLI::App& command, verdict::Shapes& shapes) {
  add_list(command, "--batch", shapes.batch, "Only these numbers of sequences");
  add_list(command, "--heads", shapes.heads, "Only these numbers of query heads");
  add_list(command, "--kv-heads", shapes.kv_heads, "Only these numbers of key heads");
  add_list(command, "--queries", shapes.queries, "Only these numbers of queries");
  add_list(command, "--keys", shapes.keys, "Only these numbers of keys");
  add_list(command, "--head-dims", shapes.head_dims, "Only these head dimensions");
  add_list(command, "--value-dims", shapes.value_dims,
           "Only these widths of values. By default 15 % of the cases have another than head_dim "
           "where the kernel takes it");
  add_list(
      command, "--rotary-dims", shapes.rotary_dims,
      "With RoPE only these numbers of rotated components. By default 40 % of the cases rotate "
      "a part of them where the kernel takes it");
  add_list(command, "--scale", shapes.scales, "Only these scales in place of 1/sqrt(head_dim)");
  add_list(command, "--softcap", shapes.softcaps,
           "Only these softcaps c: c tanh(scale q.k / c) in place of scale q.k. By default 15 % of "
           "the cases have one where the kernel takes it");
}

const std::vector<std::string>& shape_options() {
  static const std::vector<std::string> names{
      "--batch",     "--heads",      "--kv-heads",    "--queries", "--keys",
      "--head-dims", "--value-dims", "--rotary-dims", "--scale",   "--softcap"};
  return names;
}

}  // namespace plumbline::cli
