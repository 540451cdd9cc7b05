// SPDX-License-Identifier: Apache-2.0
// ld and st.
#include "ptx/execute/instructions/access.hpp"
#include "ptx/execute/poll.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

/// Vectors of four words: to[k] gets word k of each lane's.
inline void load_fours(const Access& access, u32* const (&to)[4]) {
#ifdef __AVX512F__
  using Vector = Sixteen;
#define PLUMBLINE_PTX_IN_FOURS(a, b, c, d)                                                      \
  {                                                                                             \
    a, b, c, d, a + 4, b + 4, c + 4, d + 4, a + 8, b + 8, c + 8, d + 8, a + 12, b + 12, c + 12, \
        d + 12                                                                                  \
  }
#else
  typedef u32 Vector __attribute__((vector_size(16)));
#define PLUMBLINE_PTX_IN_FOURS(a, b, c, d) \
  { a, b, c, d }
#endif
  constexpr int width = sizeof(Vector) / 4;
  // Lanes 4 n + j in vector j, four words each; then the same words side by side.
  constexpr Vector low_words = PLUMBLINE_PTX_IN_FOURS(0, width, 1, width + 1);
  constexpr Vector high_words = PLUMBLINE_PTX_IN_FOURS(2, width + 2, 3, width + 3);
  constexpr Vector low_pairs = PLUMBLINE_PTX_IN_FOURS(0, 1, width, width + 1);
  constexpr Vector high_pairs = PLUMBLINE_PTX_IN_FOURS(2, 3, width + 2, width + 3);
#undef PLUMBLINE_PTX_IN_FOURS
  for (int i = 0; i < 32; i += width) {
    Vector in[4];
    for (int j = 0; j < 4; ++j) {
      std::byte* const* p = access.p + i + j;
#ifdef __AVX512F__
      in[j] = four_of(p[0], p[4], p[8], p[12]);
#else
      __builtin_memcpy(&in[j], p[0], sizeof in[j]);
#endif
    }
    const Vector low = __builtin_shuffle(in[0], in[1], low_words);
    const Vector high = __builtin_shuffle(in[0], in[1], high_words);
    const Vector low2 = __builtin_shuffle(in[2], in[3], low_words);
    const Vector high2 = __builtin_shuffle(in[2], in[3], high_words);
    const Vector out[4] = {
        __builtin_shuffle(low, low2, low_pairs), __builtin_shuffle(low, low2, high_pairs),
        __builtin_shuffle(high, high2, low_pairs), __builtin_shuffle(high, high2, high_pairs)};
    for (int k = 0; k < 4; ++k) __builtin_memcpy(to[k] + i, &out[k], sizeof out[k]);
  }
}

/// M in memory, B in the register.
template <class M, class B>
Outcome load(Warp& w, const Operation& o) {
  using Signed = std::conditional_t<
      sizeof(M) == 1, s8,
      std::conditional_t<sizeof(M) == 2, s16, std::conditional_t<sizeof(M) == 4, s32, s64>>>;
  const u32 count = o.count, bytes = count * sizeof(M);
  u64 seen = 0;
  for_each_space(w, o, bytes, Use::reads, [&](Access& access, bool) {
    if constexpr (sizeof(M) == 4 && sizeof(B) == 4) {
      const u32* list = w.lists + o.list;
      if (count == 4 && access.shape != Shape::uniform && !(o.flags & memory_poll) &&
          list[0] != ~0u && list[1] != ~0u && list[2] != ~0u && list[3] != ~0u) {
        alignas(64) u32 part[4][32];
        if (w.mask == all_lanes)
          return load_fours(access, {lanes<u32>(w, list[0]), lanes<u32>(w, list[1]),
                                     lanes<u32>(w, list[2]), lanes<u32>(w, list[3])});
        load_fours(access, {part[0], part[1], part[2], part[3]});
        for (int k = 0; k < 4; ++k) put<u32>(w, list[k], part[k]);
        return;
      }
    }
    const bool by_words =
        sizeof(M) == 4 && access.shape == Shape::general && access.base != nullptr;
    alignas(64) s32 at[32];
    if (by_words)
      for (int i = 0; i < 32; ++i) at[i] = access.word(i);
    for (u32 k = 0; k < count; ++k) {
      const u32 d = w.lists[o.list + k];
      if (d == ~0u) continue;
      alignas(64) B part[32];
      B* const t = w.mask == all_lanes ? lanes<B>(w, d) : part;
      if (by_words) {
        const u32* words = reinterpret_cast<const u32*>(access.base) + k;
#pragma GCC ivdep
        for (int i = 0; i < 32; ++i) t[i] = words[at[i]];
      } else if (access.shape == Shape::contiguous && count == 1) {
        alignas(64) M m[32];
        __builtin_memcpy(m, access.p[0], sizeof m);
        for (int i = 0; i < 32; ++i) t[i] = m[i];
      } else if (access.shape == Shape::uniform) {
        M m;
        __builtin_memcpy(&m, access.p[0] + k * sizeof(M), sizeof m);
        for (int i = 0; i < 32; ++i) t[i] = m;
      } else {
        for (int i = 0; i < 32; ++i) {
          M m;
          __builtin_memcpy(&m, access.p[i] + k * sizeof(M), sizeof m);
          t[i] = m;
        }
      }
      if (sizeof(M) < sizeof(B) && o.flags & memory_signed)
        for (int i = 0; i < 32; ++i) t[i] = static_cast<B>(static_cast<Signed>(t[i]));
      if (o.flags & memory_poll)
        for (int i = 0; i < 32; ++i) seen = seen * 31 + t[i];
      if (t == part) put<B>(w, d, t);
    }
  });
  return o.flags & memory_poll ? polled(w, o, seen) : Outcome::next;
}

template <class M, class B>
Outcome store(Warp& w, const Operation& o) {
  const u32 count = o.count, bytes = count * sizeof(M);
  for_each_space(w, o, bytes, Use::writes, [&](Access& access, bool global) {
    const B* from[8];
    for (u32 k = 0; k < count; ++k) from[k] = lanes<B>(w, w.lists[o.list + k]);
    if (__builtin_expect(access.rewrites, 0)) {
      check_rewrites(w, o, access, bytes, [&](u32 i) {
        for (u32 k = 0; k < count; ++k) {
          const M m = static_cast<M>(from[k][i]);
          if (__builtin_memcmp(access.p[i] + k * sizeof(M), &m, sizeof m) != 0) return false;
        }
        return true;
      });
    }
    if (access.shape == Shape::contiguous && count == 1) {
      alignas(64) M m[32];
      for (int i = 0; i < 32; ++i) m[i] = static_cast<M>(from[0][i]);
      __builtin_memcpy(access.p[0], m, sizeof m);
    } else {
      if (w.mask == all_lanes) {  // without a jump that depends on the mask
        for (u32 k = 0; k < count; ++k)
          for (int i = 0; i < 32; ++i) {
            const M m = static_cast<M>(from[k][i]);
            __builtin_memcpy(access.p[i] + k * sizeof(M), &m, sizeof m);
          }
      } else {
        for (u32 lanes = w.mask; lanes; lanes &= lanes - 1) {
          const u32 i = first_lane(lanes);
          for (u32 k = 0; k < count; ++k) {
            const M m = static_cast<M>(from[k][i]);
            __builtin_memcpy(access.p[i] + k * sizeof(M), &m, sizeof m);
          }
        }
      }
      if (w.block->check && access.shape != Shape::contiguous) {
        // Two lanes that wrote one place: is each one's value there?
        u32 other = 0;
        for (u32 k = 0; k < count; ++k)
          for (int i = 0; i < 32; ++i) {
            M m;
            __builtin_memcpy(&m, access.p[i] + k * sizeof(M), sizeof m);
            other |= m != static_cast<M>(from[k][i]) ? lane_bits[i] : 0;
          }
        if (__builtin_expect((other & w.mask) != 0, 0)) {
          const u32 i = first_lane(other & w.mask);
          fault_two_values(w, o, i, access.at[i], !global);
        }
      }
    }
    const Allocation* a = access.allocation;
    if (global && a && a->initialised) set_initialised(*a, access, bytes);
  });
  return Outcome::next;
}

/// From a fixed place of the kernel's parameters.
template <class M, class B>
Outcome load_parameter(Warp& w, const Operation& o) {
  using Signed = std::make_signed_t<M>;
  for (u32 k = 0; k < o.count; ++k) {
    const u32 d = w.lists[o.list + k];
    if (d == ~0u) continue;
    M m;
    __builtin_memcpy(&m, w.block->parameters + o.immediate + k * sizeof(M), sizeof m);
    const B value =
        o.flags & memory_signed ? static_cast<B>(static_cast<Signed>(m)) : static_cast<B>(m);
    write<B>(w, d, [=](int) { return value; });
  }
  return Outcome::next;
}

/// A predicate: the address lies in the space c, of global memory in the Window `immediate`.
Outcome isspacep(Warp& w, const Operation& o) {
  const u64* a = lanes<u64>(w, o.a);
  const u32 space = o.c & memory_space;
  const Allocations* memory = w.block->memory;
  const u64 own_rank = w.block->rank + 1;
  const auto window = static_cast<Window>(o.immediate);
  write_predicate(w, o.d, lanes_where([=](int i) {
                    const bool shared = a[i] - shared_window < window_bytes;
                    const bool local = a[i] - local_window < window_bytes;
                    const u64 rank = (a[i] - shared_window) >> rank_shift;
                    if (space == memory_cluster) return shared;
                    if (space == memory_shared) return shared && (rank == 0 || rank == own_rank);
                    if (space == memory_local) return local;
                    // Constants and parameters lie in global memory, each in an allocation of its
                    // own.
                    if (shared || local || window == Window::global) return !shared && !local;
                    const Allocation* there = memory->find(a[i]);
                    return there && there->window == window;
                  }));
  return Outcome::next;
}

}  // namespace

Run select_memory(const Form& form) {
  const bool wide = form.register_bits == 64;
#define PLUMBLINE_PTX_PICK(f)                  \
  switch (bits_of(form.type)) {                \
    case 8:                                    \
      return wide ? f<u8, u64> : f<u8, u32>;   \
    case 16:                                   \
      return wide ? f<u16, u64> : f<u16, u32>; \
    case 32:                                   \
      return wide ? f<u32, u64> : f<u32, u32>; \
    case 64:                                   \
      return wide ? f<u64, u64> : f<u64, u32>; \
    default:                                   \
      return nullptr;                          \
  }
  switch (form.op) {
    case Operator::load:
      PLUMBLINE_PTX_PICK(load)
    case Operator::store:
      PLUMBLINE_PTX_PICK(store)
    case Operator::load_param:
      PLUMBLINE_PTX_PICK(load_parameter)
    case Operator::isspacep:
      return isspacep;
    default:
      return nullptr;
  }
#undef PLUMBLINE_PTX_PICK
}

}  // namespace plumbline::ptx::PLUMBLINE_PTX_ISA
