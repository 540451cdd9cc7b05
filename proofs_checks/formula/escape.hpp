// SPDX-License-Identifier: Apache-2.0
// Text inside HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace plumbline::proofs_checks {

/// The text with &, <, >, " and ' as entities: right between tags and inside attributes, in HTML
/// and in XML.
inline std::string escaped(std::string_view text) {
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
        result += c;
    }
  }
  return result;
}

}  // namespace plumbline::proofs_checks
