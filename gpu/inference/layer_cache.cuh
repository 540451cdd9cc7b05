// SPDX-License-Identifier: Apache-2.0
// A layer's cache, and attention to it.
#ifndef PLUMBLINE_GPU_INFERENCE_LAYER_CACHE_CUH
#define PLUMBLINE_GPU_INFERENCE_LAYER_CACHE_CUH

#include <algorithm>
#include <memory>

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
  int before;  ///< tokens of the sequence that the cache holds already
};

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

  /// Numbers a sequence.
  static std::size_t keys(const ModelConfiguration& c, const CacheShape& shape) {
    return static_cast<std::size_t>(c.kv_heads) * shape.capacity * c.head_dim();
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

  /// `problem` has the chunk's queries and what the position method reads, but for prefix sums; the
  /// cache has the chunk's tokens, too.
  void attend(const Chunk& chunk, plumbline_problem problem, const LayerCache<Element>& cache,
              const plumbline_outputs& outputs) const {
    const ModelConfiguration& c = configuration_;
    const Element* const k = cache.k + chunk.sequence * LayerCache<Element>::keys(c, shape_);
    const Element* const v = cache.v + chunk.sequence * LayerCache<Element>::keys(c, shape_);
    const double* const sums =
        cache.sums + chunk.sequence * LayerCache<Element>::sum_count(c, shape_);
    problem.keys = chunk.before + chunk.count + shape_.beyond;
    problem.query_offset = chunk.before;
    if (chunk.count > kMostToDecode) {
      problem.k = without_rest(c.kv_heads, problem.keys, c.head_dim(), k, many_->k.data());
      problem.v = without_rest(c.kv_heads, problem.keys, c.head_dim(), v, many_->v.data());
      if (cache.sums)
        problem.prefix_sums = without_rest(c.heads, problem.keys, 1, sums, many_->sums.data());
      many_->attention.forward(problem, outputs);
      return;
    }
    problem.page_size = shape_.capacity;
    problem.pages = page_.data();
    problem.k = k;
    problem.v = v;
    if (cache.sums) problem.prefix_sums = sums;
    decoding_.decode(problem, outputs, shape_.capacity);
  }

 private:
  struct Many {
    Attention attention;
    DeviceBuffer<Element> k, v;
    DeviceBuffer<double> sums;
  };

  plumbline_problem largest(int queries) const {
    plumbline_problem problem = attention_problem(configuration_, 1, queries);
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
