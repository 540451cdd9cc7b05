// SPDX-License-Identifier: Apache-2.0
// Adaptors of the methods that rotate queries and keys, and of those that are added to the
// embeddings.
#pragma once

#include "reference/methods/problem.hpp"
#include "reference/position/learnable.hpp"
#include "reference/position/rope.hpp"
#include "reference/position/sinusoidal.hpp"
#include "reference/position/sliding_window.hpp"

namespace plumbline::reference::methods {

template <RopePairs pairs>
struct RopeMethod {
  static constexpr Kind kind = Kind::rotation;
  static std::vector<const char*> options() { return {"base"}; }
  static std::vector<NamedShape> parameters(const Problem&) { return {}; }
  template <Real R>
  static Matrix<R> rotate(const MethodInputs<R>& in, const Matrix<R>& rows, int offset) {
    return rope(rows, offset, in.option("base"), pairs, rotary_dim(in));
  }
  template <Real R>
  static Matrix<R> rotate_back(const MethodInputs<R>& in, const Matrix<R>& rows, int offset) {
    return rope_grad(rows, offset, in.option("base"), pairs, rotary_dim(in));
  }

 private:
  template <Real R>
  static int rotary_dim(const MethodInputs<R>& in) {
    return in.problem().options.contains("rotary_dim") ? in.whole_option("rotary_dim") : 0;
  }
};

struct RopeInterleavedMethod : RopeMethod<RopePairs::interleaved> {
  static constexpr const char* name = "rope_interleaved";
};
struct RopeHalfSplitMethod : RopeMethod<RopePairs::half_split> {
  static constexpr const char* name = "rope_half_split";
};

/// BAM's baseline, interleaved pairs. Its mask is causal with the option sliding_window, in the
/// method's count; lengths and documents are the problem's.
template <WindowCount count>
struct LocalRope : RopeMethod<RopePairs::interleaved> {
  static std::vector<const char*> options() { return {"base", "sliding_window"}; }
  static Mask mask(const Problem& p) {
    Mask mask = sliding_window(whole_option(p, "sliding_window"), count);
    mask.lengths = p.mask.lengths;
    mask.documents = p.mask.documents;
    return mask;
  }
};

struct LocalRopeMethod : LocalRope<WindowCount::distance> {
  static constexpr const char* name = "local_rope";
};
struct LocalRopeKeysMethod : LocalRope<WindowCount::keys> {
  static constexpr const char* name = "local_rope_keys";
};

/// No parameters: the table has no gradient.
template <SinusoidalCosine cosine>
struct Sinusoidal {
  static constexpr Kind kind = Kind::embedding;
  static std::vector<const char*> options() { return {"base", "amplitude"}; }
  static std::vector<NamedShape> parameters(const Problem&) { return {}; }
  template <Real R>
  static Matrix<R> table(const MethodInputs<R>& in) {
    const AttentionShape& s = in.shape();
    return sinusoidal_table(s.query_offset + s.queries, s.heads * s.head_dim, in.option("base"),
                            cosine, in.option("amplitude"))
        .bottomRows(s.queries);
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>&, const Matrix<R>&, Tensors<R>&) {}
};

struct SinusoidalMethod : Sinusoidal<SinusoidalCosine::shared_frequency> {
  static constexpr const char* name = "sinusoidal";
};
struct SinusoidalOwnFrequencyMethod : Sinusoidal<SinusoidalCosine::own_frequency> {
  static constexpr const char* name = "sinusoidal_own_frequency";
};

/// table [keys, width].
struct LearnableMethod {
  static constexpr const char* name = "learnable";
  static constexpr Kind kind = Kind::embedding;
  static std::vector<const char*> options() { return {}; }
  static std::vector<NamedShape> parameters(const Problem& p) {
    return {{"table", {p.shape.keys, p.shape.heads * p.shape.head_dim}}};
  }
  template <Real R>
  static Matrix<R> table(const MethodInputs<R>& in) {
    const AttentionShape& s = in.shape();
    return learnable_positions(in.matrix("table", 0, s.keys, s.heads * s.head_dim), s.query_offset,
                               s.queries);
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, const Matrix<R>& grad_table, Tensors<R>& out) {
    const AttentionShape& s = in.shape();
    add(out, "grad_table", {s.keys, s.heads * s.head_dim}, 0,
        learnable_positions_grad(s.keys, s.query_offset, grad_table));
  }
};

}  // namespace plumbline::reference::methods
