// SPDX-License-Identifier: Apache-2.0
// Random specs for the property-based check, and how a failing one is made smaller.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "verdict/cases/spec.hpp"

namespace plumbline::verdict {

/// Sizes that are asked for; of an empty list any are drawn.
struct Shapes {
  std::vector<int> batch{}, heads{}, kv_heads{}, queries{}, keys{}, head_dims{}, value_dims{},
      rotary_dims{};
  std::vector<double> scales{}, softcaps{};
  int longest = 0;              ///< no more keys than this; 0: any number
  bool values_in_keys = false;  ///< in all cases
  /// Cases have all sizes of one of these: batch, heads, kv_heads, queries, keys, head_dim,
  /// value_dim (0: head_dim).
  std::vector<std::array<int, 7>> whole{};

  /// @param prefix before the names of fields in messages.
  /// @throws BadInput naming the field where no spec has such sizes.
  void validate(const std::string& prefix = "") const;
  /// Whether the spec has one of each list.
  bool has(const cases::Spec&) const;
  bool operator==(const Shapes&) const = default;
};

/// Whether a kernel takes a spec.
struct Supported {
  template <std::predicate<const cases::Spec&> Asked>
  Supported(Asked asked) : asked(std::move(asked)) {}  // NOLINT: a question is one
  template <std::predicate<const cases::Spec&> Asked>
  Supported(Asked asked, std::function<void(std::span<const cases::Spec>)> ahead)
      : asked(std::move(asked)), ahead(std::move(ahead)) {}

  bool operator()(const cases::Spec& spec) const { return asked(spec); }

  std::function<bool(const cases::Spec&)> asked;
  /// Told what is asked next, of one pass; may be empty.
  std::function<void(std::span<const cases::Spec>)> ahead;
};

/// Whether and where a kernel offers a pass, bias and format: some specs that it takes, which
/// others are fitted to. Empty: none was found.
using Offer = std::vector<cases::Spec>;

/// Looks for specs that the kernel takes: among drawn ones, then among the square ones that kernels
/// of fixed shapes are made for.
Offer find_offer(cases::Pass pass, cases::Bias bias, cases::Format format,
                 const Supported& supported, const Shapes& shapes);

/// Looks for them among specs that the kernel takes of other passes, biases and formats.
Offer find_offer_like(const Offer& others, cases::Pass pass, cases::Bias bias, cases::Format format,
                      const Supported& supported, const Shapes& shapes);

/// What find_offer_of_models() asks about.
std::string fixed_shapes_in_words();

/// The same among many shapes that a kernel may be made for alone (fixed_shapes_in_words).
Offer find_offer_of_models(cases::Pass pass, cases::Bias bias, cases::Format format,
                           const Supported& supported, const Shapes& shapes);

/// The spec as the kernel takes it: from one of the offer, every property that the kernel takes as
/// it was drawn, of lengths and heads else others near it. What costs more than most_work_drawn is
/// not tried.
cases::Spec fitted(const cases::Spec& drawn, const Offer& offer, const Supported& supported,
                   const Shapes& shapes);

/// Gemma 2's cap of attention logits.
inline constexpr double gemma_2_softcap = 50;

/// The most that is drawn, as work_of() counts it, where a kernel leaves a choice.
inline constexpr double most_work_drawn = 0x1p28;
/// Cases have more only where they are asked for.
inline constexpr int most_keys_drawn = 1 << 16;

/// Specs of one pass, bias and format: shapes, masks, families; edges (length 1, at, below and
/// above a tile, grouped heads, empty sequences) are drawn often, now and then lengths of
/// thousands; some have a softcap where the kernel takes it, but are the same otherwise. Shrinks
/// towards one head, few tokens, no mask.
/// @param offer those that the kernel does not take are fitted to it.
rc::Gen<cases::Spec> arbitrary_spec(cases::Pass pass, cases::Bias bias, cases::Format format,
                                    Supported supported, const Offer& offer = {},
                                    const Shapes& shapes = {});

/// `count` specs of one pass, bias and format, without a softcap or sinks.
std::vector<cases::Spec> draw_specs(cases::Pass pass, cases::Bias bias, cases::Format format,
                                    int count, std::uint64_t seed, const Shapes& shapes = {});

}  // namespace plumbline::verdict
