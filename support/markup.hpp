// SPDX-License-Identifier: Apache-2.0
// Text inside HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace plumbline {

/// The text with &, <, >, " and ' as entities: right between tags and inside attributes, in HTML
/// and in XML. Control characters other than tab and newline, which XML 1.0 does not allow, become
/// question marks.
inline std::string escaped_markup(std::string_view text) {
  std::string result;
  for (const char c : text) {
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
        result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return result;
}

}  // namespace plumbline
