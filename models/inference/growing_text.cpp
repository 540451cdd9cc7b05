// SPDX-License-Identifier: Apache-2.0
#include "models/inference/growing_text.hpp"

namespace plumbline::inference {

std::string GrowingText::added(std::string_view whole) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  while (whole.ends_with(replacement)) whole.remove_suffix(replacement.size());
  return rest(whole);
}

std::string GrowingText::rest(std::string_view whole) {
  if (!whole.starts_with(shown_)) return {};
  std::string more(whole.substr(shown_.size()));
  shown_ = whole;
  return more;
}

}  // namespace plumbline::inference
