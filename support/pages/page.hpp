// SPDX-License-Identifier: Apache-2.0
// A report as one page that a browser shows without a network, and what all reports are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plumbline::pages {

/// The title is plain text, all other strings are markup.
struct Page {
  std::string_view generator;  ///< a line by which a page of ours can be told from another file
  std::string title, main;
  std::string side = {};   ///< beside it on a wide screen, hidden on a narrow one
  std::string rules = {};  ///< CSS of this page alone
  std::string_view script = {};
};

/// HTML that is XML as well, complete in itself: style, script and pictures stand in the page, and
/// its security policy forbids it to load anything, and to run a script unless it has one.
std::string html(const Page&);

/// CSS for whatever stands below and for pictures, in light and dark. Elements with the ids
/// theme-light and theme-dark, if checked, choose between them.
std::string style();

// Parts of a page. A kind is the class that the style sheet knows of.

std::string paragraph(std::string_view markup, std::string_view kind = {});
std::string span(std::string_view kind, std::string_view markup);
/// A verdict in a frame of its colour.
std::string badge(std::string_view verdict, std::string_view markup);
/// The text, escaped, as code.
std::string code(std::string_view text);
/// To the element of this page with the id, which is plain text.
std::string link(std::string_view id, std::string_view markup);
/// What a reader may unfold, and what is seen of it meanwhile.
std::string details(std::string_view summary, std::string_view markup, bool open = false);
std::string figure(std::string_view svg, std::string_view caption, std::string_view id = {});
/// A row of a table; the first cell is its heading.
std::string row(const std::vector<std::string>& cells, std::string_view kind = {});
/// Rows below their headings, in a box that scrolls sideways where they are too wide.
std::string table(std::string_view kind, const std::vector<std::string>& headings,
                  std::string_view rows);

}  // namespace plumbline::pages
