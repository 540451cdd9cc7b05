// SPDX-License-Identifier: Apache-2.0
// Reads a page as strictly as XML asks for, and keeps its elements.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::test {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;  ///< values as they stand, entities unresolved
  std::string text;                               ///< of it and of all inside it
};

/// Every element in the order of its opening tag, after a page's `prologue`.
/// @throws std::runtime_error naming what is wrong and where: a tag that is not closed, or closed
/// in another order; an attribute without quotes or there twice; < or & that begins neither a tag
/// nor one of XML's entities; anything outside of one root.
class Markup {
 public:
  static std::vector<Element> elements(std::string_view page,
                                       std::string_view prologue = "<!DOCTYPE html>\n") {
    Markup markup(page);
    markup.expect(prologue);
    markup.read();
    return markup.elements_;
  }

 private:
  explicit Markup(std::string_view page) : page_(page) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " before: " + std::string(page_.substr(at_, 60)));
  }
  bool next_is(std::string_view text) const { return page_.substr(at_).starts_with(text); }
  void expect(std::string_view text) {
    if (!next_is(text)) fail("expected " + std::string(text));
    at_ += text.size();
  }
  void skip_space() {
    while (at_ < page_.size() && std::isspace(static_cast<unsigned char>(page_[at_])) != 0) ++at_;
  }
  std::string name() {
    const std::size_t first = at_;
    while (at_ < page_.size() && (std::isalnum(static_cast<unsigned char>(page_[at_])) != 0 ||
                                  page_[at_] == '-' || page_[at_] == ':')) {
      ++at_;
    }
    if (at_ == first) fail("expected a name");
    return std::string(page_.substr(first, at_ - first));
  }
  void check_text(std::string_view text) const {
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '<') fail("< in a value");
      if (text[at] != '&') continue;
      bool known = false;
      for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
        known = known || text.substr(at).starts_with(entity);
      }
      if (!known) fail("& that begins no entity");
    }
  }

  void read() {
    do {
      if (open_.empty() && !next_is("<")) fail("text outside of the root");
      next_is("</") ? close() : next_is("<") ? open() : text();
    } while (at_ < page_.size() && !(open_.empty() && at_ + 1 >= page_.size()));
    if (!open_.empty()) fail(elements_[open_.back()].name + " is not closed");
  }
  void text() {
    const std::size_t end = std::min(page_.find('<', at_), page_.size());
    const std::string_view text = page_.substr(at_, end - at_);
    check_text(text);
    for (const std::size_t element : open_) elements_[element].text += text;
    at_ = end;
  }
  void open() {
    if (open_.empty() && !elements_.empty()) fail("a second root");
    expect("<");
    Element element{name(), {}, {}};
    for (skip_space(); !next_is(">") && !next_is("/>"); skip_space()) {
      const std::string attribute = name();
      expect("=\"");
      const std::size_t end = page_.find('"', at_);
      if (end == std::string_view::npos) fail("no closing quote");
      const std::string_view value = page_.substr(at_, end - at_);
      check_text(value);
      if (!element.attributes.emplace(attribute, value).second) fail(attribute + " twice");
      at_ = end + 1;
    }
    elements_.push_back(element);
    if (next_is("/>")) {
      at_ += 2;
    } else {
      expect(">");
      open_.push_back(elements_.size() - 1);
    }
  }
  void close() {
    expect("</");
    const std::string closed = name();
    if (open_.empty() || elements_[open_.back()].name != closed) fail(closed + " is not open");
    expect(">");
    open_.pop_back();
  }

  std::string_view page_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;
  std::vector<Element> elements_;
};

/// The value of an attribute; empty if there is none.
inline std::string attribute(const Element& element, const std::string& name) {
  const auto found = element.attributes.find(name);
  return found == element.attributes.end() ? "" : found->second;
}

/// @throws std::logic_error if there is none.
inline const Element& with_id(const std::vector<Element>& elements, const std::string& id) {
  for (const Element& one : elements) {
    if (attribute(one, "id") == id) return one;
  }
  throw std::logic_error("no element " + id);
}

}  // namespace plumbline::test
