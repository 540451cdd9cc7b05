// SPDX-License-Identifier: Apache-2.0
// A text that is shown while its tokens come.
#pragma once

#include <string>
#include <string_view>

namespace plumbline::inference {

/// Given the whole text after every token, tells what of it is new. A character of several tokens
/// is decoded as replacement characters, U+FFFD, until its last token is there: those at the end
/// are held back.
class GrowingText {
 public:
  /// What can be shown now and was not before.
  std::string added(std::string_view whole);
  /// What is left when no token comes any more.
  std::string rest(std::string_view whole);

 private:
  std::string shown_;
};

}  // namespace plumbline::inference
