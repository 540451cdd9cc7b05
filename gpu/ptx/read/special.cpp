// SPDX-License-Identifier: Apache-2.0
#include "ptx/read/special.hpp"

#include <algorithm>
#include <array>

namespace plumbline::ptx {
namespace {

constexpr std::array<std::string_view, 8> vectors = {
    "%tid",       "%ntid",       "%ctaid",         "%nctaid",
    "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};
constexpr std::array<std::string_view, 27> scalars = {"%laneid",
                                                      "%warpid",
                                                      "%nwarpid",
                                                      "%smid",
                                                      "%nsmid",
                                                      "%gridid",
                                                      "%is_explicit_cluster",
                                                      "%cluster_ctarank",
                                                      "%cluster_nctarank",
                                                      "%lanemask_eq",
                                                      "%lanemask_le",
                                                      "%lanemask_lt",
                                                      "%lanemask_ge",
                                                      "%lanemask_gt",
                                                      "%clock",
                                                      "%clock_hi",
                                                      "%clock64",
                                                      "%globaltimer",
                                                      "%globaltimer_lo",
                                                      "%globaltimer_hi",
                                                      "%total_smem_size",
                                                      "%aggr_smem_size",
                                                      "%dynamic_smem_size",
                                                      "%current_graph_exec",
                                                      "%reserved_smem_offset_begin",
                                                      "%reserved_smem_offset_end",
                                                      "%reserved_smem_offset_cap"};
constexpr std::array<std::string_view, 3> numbered = {"%envreg", "%pm", "%reserved_smem_offset_"};

}  // namespace

bool is_special_vector(std::string_view name) {
  return std::find(vectors.begin(), vectors.end(), name) != vectors.end();
}

bool is_special(std::string_view name) {
  if (is_special_vector(name)) return true;
  if (std::find(scalars.begin(), scalars.end(), name) != scalars.end()) return true;
  return std::any_of(numbered.begin(), numbered.end(), [&](std::string_view prefix) {
    return name.substr(0, prefix.size()) == prefix;
  });
}

}  // namespace plumbline::ptx
