// SPDX-License-Identifier: Apache-2.0
// Text inside HTML and XML.
#pragma once

#include <string>
#include <string_view>

#include "support/text.hpp"

namespace plumbline {

/// The text with &, <, >, " and ' as entities: right between tags and inside attributes, in HTML
/// and in XML, whatever the bytes are: see showable.
inline std::string escaped_markup(std::string_view text) {
  std::string result;
  for (const char c : showable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace plumbline
