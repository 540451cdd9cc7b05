// SPDX-License-Identifier: Apache-2.0
// What every page of a report has to be.
#pragma once

#include <boost/test/unit_test.hpp>
#include <set>

#include "tests/support/markup.hpp"

namespace plumbline::test {

/// No id stands there twice, and every link leads to one.
inline void check_links(const std::vector<Element>& elements) {
  std::set<std::string> ids;
  for (const Element& one : elements) {
    const std::string id = attribute(one, "id");
    if (!id.empty()) BOOST_TEST(ids.insert(id).second, id);
  }
  for (const Element& one : elements) {
    if (one.name == "a") BOOST_TEST(ids.count(attribute(one, "href").substr(1)) == 1u);
    for (const char* reference : {"aria-labelledby", "for"}) {
      const std::string to = attribute(one, reference);
      if (!to.empty()) BOOST_TEST(ids.count(to.substr(0, to.find(' '))) == 1u, to);
    }
  }
}

/// Nothing on the page loads anything, and its security policy says so; it allows a script only
/// where there is one.
inline void check_loads_nothing(const std::vector<Element>& elements) {
  bool forbidden = false, script = false, allowed = false;
  for (const Element& one : elements) {
    for (const char* tag : {"link", "img", "iframe", "object", "embed", "base", "image", "use"}) {
      BOOST_TEST(one.name != tag);
    }
    for (const auto& [name, value] : one.attributes) {
      for (const char* loading :
           {"src", "srcset", "data", "action", "poster", "background", "style"}) {
        BOOST_TEST(name != loading, one.name);
      }
      BOOST_TEST(!name.starts_with("on"), one.name);
      if (name.find("href") != std::string::npos) BOOST_TEST(value.front() == '#');
      if (value.find("url(") != std::string::npos) BOOST_TEST(value.starts_with("url(#"));
      if (value.find("http") != std::string::npos) BOOST_TEST((name == "xmlns"), value);
      forbidden = forbidden || value.starts_with("default-src 'none'");
      allowed = allowed || value.find("script-src") != std::string::npos;
    }
    script = script || one.name == "script";
    if (one.name != "style" && one.name != "script") continue;
    for (const char* loading : {"http", "@import", "url(", "fetch(", "XMLHttp", "import("}) {
      BOOST_TEST(one.text.find(loading) == std::string::npos, loading);
    }
  }
  BOOST_TEST(forbidden);
  BOOST_TEST(allowed == script);
}

}  // namespace plumbline::test
