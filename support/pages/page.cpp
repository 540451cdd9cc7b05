// SPDX-License-Identifier: Apache-2.0
#include "support/pages/page.hpp"

#include <fmt/format.h>

#include "support/markup.hpp"

namespace plumbline::pages {
namespace {

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, value);
}

std::string element(std::string_view tag, std::string_view kind, std::string_view markup) {
  return fmt::format("<{0}{1}>{2}</{0}>", tag, attribute("class", kind), markup);
}

}  // namespace

std::string html(const Page& page) {
  const bool runs = !page.script.empty();
  return fmt::format(
      R"(<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8"/>
{}
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'{}"/>
<title>{}</title>
<style>
{}{}</style>
</head>
<body>
{}<main>
{}</main>
{}</body>
</html>
)",
      page.generator, runs ? "; script-src 'unsafe-inline'" : "", escaped_markup(page.title),
      style(), page.rules, page.side, page.main,
      runs ? fmt::format("<script>\n{}</script>\n", page.script) : "");
}

std::string paragraph(std::string_view markup, std::string_view kind) {
  return element("p", kind, markup) + "\n";
}

std::string span(std::string_view kind, std::string_view markup) {
  return element("span", kind, markup);
}

std::string badge(std::string_view verdict, std::string_view markup) {
  return span(fmt::format("badge {}", verdict), markup);
}

std::string code(std::string_view text) { return element("code", "", escaped_markup(text)); }

std::string link(std::string_view id, std::string_view markup) {
  return fmt::format("<a href=\"#{}\">{}</a>", escaped_markup(id), markup);
}

std::string details(std::string_view summary, std::string_view markup, bool open) {
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n",
                     attribute("open", open ? "open" : ""), summary, markup);
}

std::string figure(std::string_view svg, std::string_view caption, std::string_view id) {
  return fmt::format("<figure{}>{}<figcaption>{}</figcaption></figure>\n", attribute("id", id), svg,
                     caption);
}

std::string row(const std::vector<std::string>& cells, std::string_view kind) {
  std::string markup;
  for (const std::string& cell : cells) markup += element(markup.empty() ? "th" : "td", "", cell);
  return element("tr", kind, markup) + "\n";
}

std::string table(std::string_view kind, const std::vector<std::string>& headings,
                  std::string_view rows) {
  std::string head;
  for (const std::string& heading : headings) head += element("th", "", heading);
  return fmt::format(
      "<div class=\"wide\"><table{}><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
      attribute("class", kind), head, rows);
}

}  // namespace plumbline::pages
