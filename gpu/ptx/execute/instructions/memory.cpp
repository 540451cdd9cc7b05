// SPDX-License-Identifier: Apache-2.0
// ld and st.
#include "ptx/execute/instructions/access.hpp"
#include "ptx/execute/poll.hpp"

namespace plumbline::ptx::PLUMBLINE_PTX_ISA {
namespace {

/// M in memory, B in the register.
template <class M, class B>
Outcome load(Warp& w, const Operation& o) {
  using Signed = std::conditional_t<
      sizeof(M) == 1, s8,
      std::conditional_t<sizeof(M) == 2, s16, std::conditional_t<sizeof(M) == 4, s32, s64>>>;
  const u32 count = o.count, bytes = count * sizeof(M);
  u64 seen = 0;
  for_each_space(w, o, bytes, Use::reads, [&](Access& access, bool) {
    for (u32 k = 0; k < count; ++k) {
      const u32 d = w.lists[o.list + k];
      if (d == ~0u) continue;
      alignas(64) B t[32];
      if (access.shape == Shape::contiguous && count == 1) {
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
      put<B>(w, d, t);
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
      for (u32 lanes = w.mask; lanes; lanes &= lanes - 1) {
        const u32 i = first_lane(lanes);
        for (u32 k = 0; k < count; ++k) {
          const M m = static_cast<M>(from[k][i]);
          __builtin_memcpy(access.p[i] + k * sizeof(M), &m, sizeof m);
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
    if (global && a && a->initialised) {
      if (access.shape == Shape::contiguous && bytes >= 4)
        __builtin_memset(a->initialised + ((access.at[0] - a->begin) >> 2), 0x0f, 8 * bytes);
      else
        for (u32 i = 0; i < 32; ++i) set_initialised(*a, access.at[i], bytes);
    }
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
  const auto window = static_cast<Window>(o.immediate);
  write_predicate(w, o.d, lanes_where([=](int i) {
                    const bool shared = a[i] - shared_window < window_bytes;
                    const bool local = a[i] - local_window < window_bytes;
                    if (space == memory_shared || space == memory_local)
                      return space == memory_shared ? shared : local;
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
