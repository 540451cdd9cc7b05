// SPDX-License-Identifier: Apache-2.0
#include "verdict/oracle/sample.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "support/draw.hpp"
#include "verdict/cases/bias_parameters.hpp"

namespace plumbline::verdict {

double work_of(const cases::Spec& s) {
  const double pairs = static_cast<double>(s.batch) * s.heads * s.queries * s.keys;
  return pairs * std::max(s.head_dim, s.value_width()) * (s.pass == cases::Pass::backward ? 4 : 1);
}

Sample::Sample(const cases::Spec& spec, double most_work) : spec_(spec), most_work_(most_work) {
  whole_ = spec.family == cases::Family::file || work_of(spec) <= most_work;
  choose_rows();
  choose_key_heads();
}

void Sample::choose_rows() {
  const auto heads = static_cast<std::size_t>(spec_.batch) * spec_.heads;
  const auto queries = static_cast<std::size_t>(spec_.queries);
  const double row_work =
      static_cast<double>(spec_.keys) * std::max(spec_.head_dim, spec_.value_width());
  // The rows take half of the work, since they are judged beside the key heads' gradients.
  const auto affordable = static_cast<std::size_t>(most_work_ / 2 / row_work);
  const std::size_t of_head = std::max<std::size_t>(affordable / heads, 2);
  if (whole_ || of_head >= queries) {
    rows_.resize(heads * queries);
    std::iota(rows_.begin(), rows_.end(), std::size_t{0});
    return;
  }
  const Draw draw(spec_.seed, static_cast<std::uint64_t>(cases::Stream::sample));
  const auto below = [](std::uint64_t word, std::size_t count) { return word % count; };
  for (std::size_t head = 0; head < heads; ++head) {
    std::set<std::size_t> chosen;
    for (std::size_t n = 0; n < of_head; ++n) {
      const std::uint64_t index = 4 * (head * of_head + n);
      std::size_t row = below(draw.word(index), queries);
      if (n % 2 == 0) {  // the first or last row of a tile, or the last of all
        const std::size_t tile = std::size_t{16} << draw.below(index + 1, 5);
        row = draw.below(index + 2, 8) == 0 ? queries - 1 : row / tile * tile;
        if (row > 0 && draw.below(index + 3, 2) == 0) --row;
      }
      chosen.insert(row);
    }
    for (const std::size_t row : chosen) rows_.push_back(head * queries + row);
  }
}

void Sample::choose_key_heads() {
  const int heads = spec_.batch * spec_.kv_heads;
  key_heads_.assign(static_cast<std::size_t>(heads), whole_);
  if (whole_) return;
  const Draw draw(spec_.seed, static_cast<std::uint64_t>(cases::Stream::sample));
  // DAPE's heads depend on one another: a sequence is judged with all of its heads.
  const int together = spec_.bias.dape_taps() > 0 ? spec_.kv_heads : 1;
  const int parts = heads / together;
  const double part_work = work_of(spec_) / parts;
  const int affordable = std::clamp(static_cast<int>(most_work_ / part_work), 1, parts);
  const int first =
      static_cast<int>(draw.below(~std::uint64_t{0}, static_cast<std::uint32_t>(parts)));
  for (int n = 0; n < affordable; ++n) {
    const int part = (first + n * (parts / affordable)) % parts;
    for (int head = 0; head < together; ++head) key_heads_[part * together + head] = true;
  }
}

bool Sample::has_head_everywhere(int head) const {
  const int kv = head / (spec_.heads / spec_.kv_heads);
  for (int batch = 0; batch < spec_.batch; ++batch) {
    if (!has_key_head(batch * spec_.kv_heads + kv)) return false;
  }
  return true;
}

}  // namespace plumbline::verdict
