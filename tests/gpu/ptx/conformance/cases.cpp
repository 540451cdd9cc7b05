// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/ptx/conformance/cases.hpp"

#include <stdexcept>

namespace plumbline::ptx::conformance {
namespace {

std::uint64_t seed_of(const std::string& form) {
  std::uint64_t hash = 1469598103934665603u;
  for (const unsigned char c : form) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

std::vector<std::uint8_t> drawn_states(const Row& row, std::size_t threads, Random& random) {
  std::vector<std::uint8_t> states(threads, active);
  if (row.whole_warps) return states;
  for (std::size_t warp = 0; warp < threads / 32; ++warp) {
    const std::uint32_t bits = static_cast<std::uint32_t>(random()), one = random() % 32;
    for (unsigned lane = 0; lane < 32; ++lane) {
      std::uint8_t& state = states[warp * 32 + lane];
      switch (warp % 8) {
        case 3:
          state = bits >> lane & 1;
          break;
        case 4:
          state = lane == one;
          break;
        case 5:
          state = lane < one + 1;
          break;
        case 6:
          state = random() % 3;
          break;
        case 7:
          state = lane < one ? leaves : active;
          break;
        default:
          break;
      }
    }
  }
  return states;
}

}  // namespace

Warp warp_of(const Row& row, const Cases& cases, std::size_t first) {
  Warp warp;
  warp.a.resize(row.operands.size());
  warp.d.resize(row.results.size());
  for (int lane = 0; lane < 32; ++lane) {
    warp.active |= std::uint32_t{cases.states[first + lane] == active} << lane;
    warp.left |= std::uint32_t{cases.states[first + lane] == leaves} << lane;
    for (std::size_t k = 0; k < warp.a.size(); ++k) warp.a[k][lane] = cases.a[k][first + lane];
    for (std::size_t k = 0; k < warp.d.size(); ++k)
      warp.d[k][lane] = low(marker, width(row.results[k]));
  }
  return warp;
}

Cases drawn(const Row& row) {
  Random random(seed_of(row.form));
  Cases cases;
  const std::size_t operands = row.operands.size();
  std::size_t all = 1;
  for (const Operand& operand : row.operands)
    all = std::min<std::size_t>(all * operand.domain.edges.size(), 1 << 20);
  const bool whole_product = all <= 3072;
  std::size_t threads = row.expect_warp ? 32 * row.warps : (whole_product ? all : 2048) + 1024;
  threads = (threads + block - 1) / block * block;
  cases.states = drawn_states(row, threads, random);
  cases.a.assign(operands, std::vector<Bits>(threads));
  std::vector<Bits> a(operands);
  std::size_t product = 0;  // of the edges, how many are drawn
  for (std::size_t i = 0; i < threads; ++i) {
    const bool takes_edges = !row.expect_warp && cases.states[i] == active && product < all;
    for (int attempt = 0;; ++attempt) {
      std::size_t digits = takes_edges ? whole_product ? product : random() : 0;
      for (std::size_t k = 0; k < operands; ++k) {
        const Domain& domain = row.operands[k].domain;
        if (takes_edges && (attempt == 0 || !whole_product)) {
          a[k] = domain.edges[digits % domain.edges.size()];
          digits /= domain.edges.size();
        } else {
          a[k] = domain.draw(random);
        }
      }
      if (!row.defined || row.defined(a.data())) break;
      if (attempt > 10000) throw std::logic_error(row.form + ": hardly any operands are defined");
    }
    if (takes_edges && (whole_product || product < 1024)) ++product;
    for (std::size_t k = 0; k < operands; ++k)
      cases.a[k][i] = low(a[k], width(row.operands[k].type));
  }
  if (row.prepare || row.mask_operand >= 0)
    for (std::size_t first = 0; first < threads; first += 32) {
      Warp warp = warp_of(row, cases, first);
      if (row.mask_operand >= 0) warp.a[row.mask_operand].fill(warp.active | warp.left);
      if (row.prepare) row.prepare(warp);
      for (int lane = 0; lane < 32; ++lane)
        for (std::size_t k = 0; k < operands; ++k) cases.a[k][first + lane] = warp.a[k][lane];
    }
  return cases;
}

}  // namespace plumbline::ptx::conformance
