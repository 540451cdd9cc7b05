// SPDX-License-Identifier: Apache-2.0
#include "support/pictures/style.hpp"

#include <stdexcept>

namespace plumbline::pictures {

const char* const rules =
    R"(svg text{font:13px system-ui,sans-serif;fill:var(--ink)}
svg text.light{fill:#fff}svg text.dark{fill:#000}svg text.small{font-size:11px}
[class^="q"]{shape-rendering:crispEdges}
.axis,.frame{stroke:var(--soft);fill:none}
.grid{stroke:var(--line);fill:none}
.curve{fill:none;stroke-width:2.2;stroke-linejoin:round}
.points{stroke:none}
.curve.c0{stroke:var(--c0)}.curve.c1{stroke:var(--c1);stroke-dasharray:10 3}
.curve.c2{stroke:var(--c2);stroke-dasharray:3 3}.curve.c3{stroke:var(--c3);stroke-dasharray:10 3 3 3}
.curve.c4{stroke:var(--c4);stroke-dasharray:6 2}.curve.c5{stroke:var(--c5);stroke-dasharray:14 3 2 3}
.curve.c6{stroke:var(--c6);stroke-dasharray:2 2}.curve.c7{stroke:var(--c7);stroke-dasharray:16 5}
.curve.dashes{stroke-width:1.4;stroke-dasharray:4 4}
.points.c0{fill:var(--c0)}.points.c1{fill:var(--c1)}.points.c2{fill:var(--c2)}
.points.c3{fill:var(--c3)}.points.c4{fill:var(--c4)}.points.c5{fill:var(--c5)}
.points.c6{fill:var(--c6)}.points.c7{fill:var(--c7)}
.q0{fill:#00224e}.q1{fill:#17376e}.q2{fill:#3b4a6c}.q3{fill:#585e6d}.q4{fill:#737475}
.q5{fill:#8f8b78}.q6{fill:#aea371}.q7{fill:#cfbd62}.q8{fill:#f0da4f}.q9{fill:#e4002b}
)";

const char* const light_colours =
    "--paper:#fdfdfc;--ink:#1c1f23;--soft:#59626b;--line:#d5dade;--c0:#0072b2;--c1:#c94f00;"
    "--c2:#008060;--c3:#a83c86;--c4:#7a6a00;--c5:#5b4fc4;--c6:#555555;--c7:#b02020;";
const char* const dark_colours =
    "--paper:#14171b;--ink:#e4e6e8;--soft:#a3abb3;--line:#343b43;--c0:#56b4e9;--c1:#ff9457;"
    "--c2:#3fd0a4;--c3:#e89ad0;--c4:#f0e442;--c5:#b3a8ff;--c6:#c8c8c8;--c7:#ff8080;";

namespace {

/// The value of a variable in "--name:value;...".
std::string value_of(const std::string& name, const std::string& values) {
  const std::string wanted = name + ":";
  const std::size_t found = values.find(wanted);
  if (found == std::string::npos) throw std::logic_error("no colour " + name);
  const std::size_t begin = found + wanted.size();
  return values.substr(begin, values.find(';', begin) - begin);
}

std::string replaced(std::string text, const std::string& values) {
  for (std::size_t at = text.find("var("); at != std::string::npos; at = text.find("var(", at)) {
    const std::size_t end = text.find(')', at);
    text.replace(at, end + 1 - at, value_of(text.substr(at + 4, end - at - 4), values));
  }
  return text;
}

}  // namespace

std::string style_of_files() {
  const std::string all = std::string(".paper{fill:var(--paper)}\n") + rules;
  return replaced(all, light_colours) + "@media (prefers-color-scheme:dark){\n" +
         replaced(all, dark_colours) + "}\n";
}

}  // namespace plumbline::pictures
