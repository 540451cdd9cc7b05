// SPDX-License-Identifier: Apache-2.0
// How far a correct fp32 kernel's FIRE bias, and its derivatives, may be from the exact ones.
#pragma once

#include <vector>

#include "verdict/cases/case.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// One pair of FIRE: b = v_0 + sum_w v_w max(0, a_w), a_w = w_w y + b_w, y = N / M, N = ln(1 + |c|
/// x), M = ln(1 + |c| m) + epsilon, m = max(i, |L L0|). Each value with a bound of its error:
///  - N: |c| x rounds (u |c| x, which moves the logarithm by u |c| x / (1 + |c| x)), 1 + |c| x
///    rounds (u), the logarithm is within 1 ulp and its base changes (4u N), and beside that off by
///    log_error max(1, N); 0 exactly for x = 0;
///  - M: likewise with |c| m off by 4u (L0 in float, two products), the sum with epsilon (2u M);
///  - y: (e_N + y e_M) / (M - e_M) + u y, and (N + 1) 2^-150 where 1 / M may be below fp32's normal
///    range;
///  - a_w: |w_w| e_y + u |w_w y| + u (|w_w y| + |b_w|);
///  - b: sum |v_w| e_w + gamma_{W+1} (sum |v_w| (|a_w| + e_w) + |v_0|) + 2u |b| (log2 e).
/// Where |a_w| <= e_w the kernel may take either side of the kink.
///
/// This holds as well for a kernel that sums units in another way, at its own fp32 y' (|y' - y| <=
/// e_y):
///  - y' = N (1/M), M summed in double: epsilon and 1/M are rounded to fp32, each by less than
///    u / (1 + u) of itself, which with the sum and the division in double is less than the 2u M;
///  - units of which w_w y + b_w has one sign for every y' of a tile are 0, or summed, with v_0, as
///    a line s y' + t, with s and t summed in double (within h = 2^-53 (W + 3), relative to the sum
///    of sizes), rounded to fp32, and one fused multiply-add. Being on the same side at y' as
///    exactly there, max(0, .) moves by |w_w| e_y at most. The roundings of s and t are
///    (u + h) (sum |v_w w_w| y' + sum |v_w b_w| + |v_0|). Of e_w, u |w_w y| + u |b_w| are that u's,
///    and the other u |w_w y|, with |b_w| <= |a_w| + |w_w y|, is more than 2h |w_w y|. What is
///    left, h |a_w| and (u + h) |v_0|, comes from gamma: the line and k units pass through k + 1
///    roundings, and k + 1 <= W where the line has a unit (where it has none, it is v_0 exactly).
///    gamma_{W+1} - W u is more than u + h;
///  - of such a line, where no unit has a kink near by, c_i log2 e times b may come from
///    s' N + t', with s' = c_i log2 e (1/M) s and t' = c_i log2 e t, rounded to fp32 but once: a
///    product of fp32 numbers is exact in double, that with s or t is one rounding more of the
///    W + 3 in h (W + 2 with it). N (1/M) is then y' without the rounding u y, and nothing else
///    is rounded that is not without these factors.
struct FireErrors {
  FireErrors(const cases::Case& the_case, const Contract& contract, int head, int i, int j);

  double y = 0, y_error = 0;
  std::vector<double> hidden, hidden_error;  ///< max(0, a_w), and e_w
  std::vector<bool> kink;                    ///< a_w may be on either side of 0
  double bias_error = 0;

  /// d b / d y = sum_w v_w w_w [a_w > 0]; then
  ///   d b / d c = sign(c) (d b / d y) (x / (1 + |c| x) - y m / (1 + |c| m)) / M,
  ///   d b / d L = -(d b / d y) y |c| / (1 + |c| m) / M [i <= |L L0|] sign(L L0) L0.
  double c_error = 0, L_error = 0;
};

}  // namespace plumbline::verdict
