// SPDX-License-Identifier: Apache-2.0
// A row: one form of one instruction, its operands, and what it must compute.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_ROW_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_ROW_HPP

#include <array>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "tests/gpu/ptx/conformance/bits.hpp"
#include "tests/gpu/ptx/conformance/domain.hpp"
#include "tests/gpu/ptx/conformance/experiment.hpp"

namespace plumbline::ptx::conformance {

struct Operand {
  Type type;
  Domain domain;
  Operand(Type type) : type(type), domain(any(type)) {}
  Operand(Type type, Domain domain) : type(type), domain(std::move(domain)) {}
};

/// One thread's operands to its results.
using Expect = std::function<void(const Bits* a, Bits* d)>;

/// One warp: operands and results by number and lane.
struct Warp {
  std::uint32_t active = 0;  ///< lanes that execute the instruction
  std::vector<std::array<Bits, 32>> a, d;
  std::uint32_t left = 0;  ///< lanes that left before it
  bool has(int lane) const { return active >> lane & 1; }
};
using ExpectWarp = std::function<void(Warp&)>;

/// A result that need not be exact: whether it is right, how many ulp it is off (-1: not said),
/// and what was expected.
struct Judged {
  bool right;
  double ulps;
  std::string expected;
};
using Judge = std::function<Judged(const Bits* a, Bits got)>;

/// How the results of a row are compared.
enum class Compare {
  exact,
  any_nan,      ///< the PTX ISA leaves open which NaN it is
  any_nan_zero  ///< and which zero
};

struct Row {
  std::string form;
  /// The instructions: results are %d0, %d1, ..., operands %a0, %a1, ...; %p0-7 (predicates), %h0-7
  /// (16 bits), %r0-15 (32 bits) and %l0-7 (64 bits) are free. Each instruction gets the predicate
  /// of the lanes that take part, but for those that have a predicate of their own.
  std::string text;
  std::vector<Type> results;
  std::vector<Operand> operands;
  Expect expect;
  ExpectWarp expect_warp;  ///< instead, for instructions of a warp
  Judge judge;             ///< instead, for approximations: of the one result
  Compare compare = Compare::exact;
  std::function<bool(const Bits* a)> defined;  ///< operands that the PTX ISA gives a meaning
  Target target = Target::sm_80;
  std::string version = "8.0";
  bool whole_warps = false;  ///< an .aligned instruction: all lanes take part
  /// This operand is a mask of members: the lanes that take part, and those that have left.
  int mask_operand = -1;
  ExpectWarp prepare;   ///< changes the operands of a warp, before anything is expected
  std::string before;   ///< declarations and instructions of all lanes, before the operands' masks
  std::string after;    ///< instructions of all lanes, before the results are stored
  std::string module;   ///< text before the kernel
  unsigned warps = 64;  ///< of expect_warp

  Row& with_text(std::string t) {
    text = std::move(t);
    return *this;
  }
  Row& on(Target t) {
    target = t;
    return *this;
  }
  Row& since(std::string v) {
    version = std::move(v);
    return *this;
  }
  Row& when(std::function<bool(const Bits*)> f) {
    defined = std::move(f);
    return *this;
  }
  Row& comparing(Compare c) {
    compare = c;
    return *this;
  }
};

/// The rows and experiments of one family.
struct Family {
  std::string name;
  std::deque<Row> rows;
  std::deque<Experiment> experiments;  ///< written out

  /// A row whose text is `FORM %d0, ..., %a0, ...;`.
  Row& add(std::string form, std::vector<Type> results, std::vector<Operand> operands,
           Expect expect);
  Row& add_warp(std::string form, std::vector<Type> results, std::vector<Operand> operands,
                ExpectWarp expect);
  Row& add_judged(std::string form, Type result, std::vector<Operand> operands, Judge judge);
  Experiment& write(std::string form);
};

/// The verdict on one buffer of floats that must hold these afterwards, and any NaN for a NaN.
std::function<Verdict(const std::vector<Buffer>&)> holds_floats(std::size_t index,
                                                                const Buffer& expected,
                                                                const Format& format);

/// The kernel around a row, its operands drawn, its results computed. The same row gives the same.
Experiment experiment_of(const Row& row);

/// Every experiment of a family whose form has this part, one after another.
void for_each(const Family& family, const std::string& part,
              const std::function<void(const Experiment&)>& f);

}  // namespace plumbline::ptx::conformance

#endif
