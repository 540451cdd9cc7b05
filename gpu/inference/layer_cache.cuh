// SPDX-License-Identifier: Apache-2.0
// A layer's cache, and attention to it.
#ifndef PLUMBLINE_GPU_INFERENCE_LAYER_CACHE_CUH
#define PLUMBLINE_GPU_INFERENCE_LAYER_CACHE_CUH

#include <algorithm>
#include <memory>
#include <utility>

#include "attention/attention.cuh"
#include "attention/cache.cuh"
#include "attention/check_problem.cuh"
#include "attention/score_methods.cuh"
#include "core/fill_zero.cuh"
#include "model/arena.cuh"
#include "model/attention_problem.hpp"
#include "model/position_method.hpp"
#include "model/upload.cuh"

namespace plumbline::gpu {

/// New tokens of one sequence among the rows that go through the layers together.
struct Chunk {
  int sequence, first_row, count;
  int before;                   ///< tokens of the sequence that the cache holds already,
  const int* before_on_device;  ///< and the same number in device memory
};

/// Numbers of all heads' keys of a token.
inline int key_width(const ModelConfiguration& c) { return c.kv_heads * c.head_dim(); }

/// Sizes of a cache; the last `beyond` places of its capacity stay empty.
struct CacheShape {
  int batch, capacity;
  int beyond;
};

/// Keys after the query that a method takes notice of: DAPE's second convolution, where it is 3
/// wide, reads what the first one made of the key after the query out of 0 and the keys before. In
/// training that key is there for every token but the last one, which is as if it were not there.
/// Here it always is: what a token leaves in the cache must not change when others follow.
inline int keys_beyond(const ModelConfiguration& c) {
  return position_method(c.position).bias.dape_taps() / 2;
}

/// Attention of `queries` tokens of a sequence: the queries and the keys of the cache have been
/// rotated.
inline plumbline_problem cached_problem(const ModelConfiguration& c, int queries) {
  plumbline_problem problem = attention_problem(c, 1, queries);
  problem.rope = PLUMBLINE_NO_ROPE;
  problem.rotary_dim = 0;
  return problem;
}

/// RoPE's angles at all positions of a cache, where the model has it.
class CacheRotation {
 public:
  CacheRotation(const Stream& stream, const ModelConfiguration& c, int capacity)
      : problem_(attention_problem(c, 1, 1)),
        cosine_(stream, static_cast<std::size_t>(capacity) * (problem_.rotary_dim / 2)),
        sine_(stream, cosine_.size()) {
    if (cosine_.size() == 0) return;
    const RotationTables tables =
        rotation_tables(capacity, problem_.rotary_dim, problem_.options[PLUMBLINE_BASE]);
    upload(stream, tables.cosine, cosine_.data());
    upload(stream, tables.sine, sine_.data());
  }

  Rotation rotation() const {
    return {cosine_.data(), sine_.data(), problem_.rope == PLUMBLINE_ROPE_INTERLEAVED,
            problem_.rotary_dim};
  }

 private:
  plumbline_problem problem_;
  DeviceBuffer<float> cosine_, sine_;
};

/// What a layer keeps of the tokens, [batch, heads, capacity, ...] (attention/cache.cuh).
template <class Element>
struct LayerCache {
  Element *k, *v;
  double* sums;  ///< prefix sums of what the method sums; else null

  LayerCache(const ModelConfiguration& c, const CacheShape& shape, Arena& arena)
      : k(arena.take<Element>(shape.batch * keys(c, shape))),
        v(arena.take<Element>(shape.batch * keys(c, shape))),
        sums(sum_count(c, shape) > 0 ? arena.take<double>(shape.batch * sum_count(c, shape))
                                     : nullptr) {}

  LayerCache(Element* keys, Element* values, double* prefix_sums)
      : k(keys), v(values), sums(prefix_sums) {}

  /// That of one sequence.
  LayerCache of(const ModelConfiguration& c, const CacheShape& shape, int sequence) const {
    const std::size_t first = sequence * keys(c, shape);
    return {k + first, v + first, sums ? sums + sequence * sum_count(c, shape) : nullptr};
  }

  /// New tokens of a sequence come after those of the cache. `columns` are those of q, k and v; the
  /// queries, rotated, go to `queries` [heads, count, head_dim]; the prefix sums take the place of
  /// what the method sums in `problem`.
  void append(const Stream& stream, const ModelConfiguration& c, const CacheShape& shape,
              int sequence, int count, const int* before, const HeadRows (&columns)[3],
              const Rotation& rotation, Element* queries, plumbline_problem& problem) const {
    const LayerCache own = of(c, shape, sequence);
    const float* increments = nullptr;
    if (sums)
      increments = std::exchange(problem.parameters[summed_parameter(problem.bias)], nullptr);
    append_tokens(stream, {c.heads, c.kv_heads, c.head_dim(), shape.capacity, count, before},
                  {c.format, columns[0], columns[1], columns[2], rotation, queries, own.k, own.v,
                   increments, own.sums});
  }

  /// Numbers a sequence.
  static std::size_t keys(const ModelConfiguration& c, const CacheShape& shape) {
    return static_cast<std::size_t>(key_width(c)) * shape.capacity;
  }
  static std::size_t sum_count(const ModelConfiguration& c, const CacheShape& shape) {
    const bool sums = summed_parameter(position_method(c.position).bias.method) >= 0;
    return sums ? static_cast<std::size_t>(c.heads) * shape.capacity : 0;
  }
};

/// Attention of a sequence's last tokens to all of them: for few by the kernels of decoding, for
/// many by those of training, on a copy of the cache without what is left of its capacity. One
/// serves all layers.
template <class Element>
class CacheReader {
 public:
  static constexpr int kMostToDecode = 64;  ///< queries of the kernels of decoding

  /// For chunks of at most `chunk` tokens.
  CacheReader(const Stream& stream, const ModelConfiguration& c, const CacheShape& shape, int chunk)
      : stream_(stream),
        configuration_(c),
        shape_(shape),
        decoding_(stream, largest(std::min(chunk, kMostToDecode)), {}, {.decode = true}),
        page_(stream, 1) {
    fill_zero(stream, page_.data(), 1);
    if (chunk <= kMostToDecode) return;
    many_ = std::make_unique<Many>(
        Many{{stream, largest(chunk), attention_kernels(c.format, true, true)},
             {stream, LayerCache<Element>::keys(c, shape)},
             {stream, LayerCache<Element>::keys(c, shape)},
             {stream, LayerCache<Element>::sum_count(c, shape)}});
  }

  /// Attention of the newest token of a sequence, whose length is in device memory: what is
  /// launched is the same for every token. Not for methods that need scores. The rest as `attend`.
  void attend_newest(int sequence, const int* length, plumbline_problem problem,
                     const LayerCache<Element>& cache, const plumbline_outputs& outputs) const {
    problem.lengths = length;
    problem.queries_at_end = 1;
    problem.query_offset = shape_.capacity - 1;
    decode(sequence, shape_.capacity, problem, cache, outputs);
  }

  /// `problem` has the chunk's queries and what the position method reads, but for prefix sums; the
  /// cache has the chunk's tokens, too.
  void attend(const Chunk& chunk, plumbline_problem problem, const LayerCache<Element>& cache,
              const plumbline_outputs& outputs) const {
    const int keys = chunk.before + chunk.count + shape_.beyond;
    problem.query_offset = chunk.before;
    if (chunk.count <= kMostToDecode) return decode(chunk.sequence, keys, problem, cache, outputs);
    const ModelConfiguration& c = configuration_;
    const LayerCache<Element> own = cache.of(c, shape_, chunk.sequence);
    problem.keys = keys;
    problem.k = without_rest(c.kv_heads, keys, c.head_dim(), own.k, many_->k.data());
    problem.v = without_rest(c.kv_heads, keys, c.head_dim(), own.v, many_->v.data());
    if (own.sums)
      problem.prefix_sums = without_rest(c.heads, keys, 1, own.sums, many_->sums.data());
    many_->attention.forward(problem, outputs);
  }

 private:
  struct Many {
    Attention attention;
    DeviceBuffer<Element> k, v;
    DeviceBuffer<double> sums;
  };

  void decode(int sequence, int keys, plumbline_problem problem, const LayerCache<Element>& cache,
              const plumbline_outputs& outputs) const {
    const LayerCache<Element> own = cache.of(configuration_, shape_, sequence);
    problem.keys = keys;
    problem.page_size = shape_.capacity;
    problem.pages = page_.data();
    problem.k = own.k;
    problem.v = own.v;
    if (own.sums) problem.prefix_sums = own.sums;
    decoding_.decode(problem, outputs, shape_.capacity);
  }

  plumbline_problem largest(int queries) const {
    plumbline_problem problem = cached_problem(configuration_, queries);
    problem.keys = problem.page_size = shape_.capacity;
    static const double brought = 0.0;
    problem.prefix_sums = &brought;  // not read: the sums are the cache's, no room is needed
    return problem;
  }

  /// to[h, i, d] = from[h, i, d], [heads, keys, width] out of [heads, capacity, width].
  template <class T>
  const T* without_rest(int heads, int keys, int width, const T* from, T* to) const {
    const std::size_t size = static_cast<std::size_t>(keys) * width;
    const std::size_t stride = static_cast<std::size_t>(shape_.capacity) * width;
    for (int h = 0; h < heads; ++h) copy_on_device(stream_, from + h * stride, size, to + h * size);
    return to;
  }

  const Stream& stream_;
  const ModelConfiguration configuration_;
  const CacheShape shape_;
  Attention decoding_;
  DeviceBuffer<int> page_;  ///< 0: a sequence's cache is one page
  std::unique_ptr<Many> many_;
};

}  // namespace plumbline::gpu

#endif
