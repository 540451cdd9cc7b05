// SPDX-License-Identifier: Apache-2.0
#include "support/pictures/style.hpp"
#include "verdict/report/page/parts.hpp"

namespace plumbline::verdict {
namespace {

constexpr const char* light =
    "--paper:#fdfdfc;--ink:#1c1f23;--soft:#59626b;--line:#d5dade;--card:#f5f6f7;--link:#005a9c;"
    "--pass:#0063a3;--undecided:#8a5a00;--fail:#b83c00;";
constexpr const char* dark =
    "--paper:#14171b;--ink:#e4e6e8;--soft:#a3abb3;--line:#343b43;--card:#1b1f25;--link:#7cc0f5;"
    "--pass:#5fb6f0;--undecided:#e8b339;--fail:#ff8f5a;";

constexpr const char* layout =
    R"(*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,sans-serif;
overflow-wrap:break-word}
main{max-width:60rem;margin:0 auto;padding:1rem}
a{color:var(--link)}
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}
h3{font-size:1.15rem;line-height:1.35;margin:0 0 .4rem}
h4{font-size:.95rem;margin:1.1rem 0 .2rem;color:var(--soft)}
p,details{margin:.4rem 0}
summary{cursor:pointer}
code,pre{font:.88em/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
pre{background:var(--card);padding:.6rem .8rem;border-radius:.3rem;white-space:pre-wrap}
pre code{font-size:1em}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.92rem}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
.numbers td{font-variant-numeric:tabular-nums}
.numbers .case{min-width:24rem;font-size:.86em}
.badge{display:inline-block;padding:0 .55em;border-radius:1em;border:1px solid currentColor;
font-size:.82rem;font-weight:600;white-space:nowrap}
.badge.pass{color:var(--pass)}.badge.undecided{color:var(--undecided)}.badge.fail{color:var(--fail)}
article{border:1px solid var(--line);border-radius:.5rem;padding:1rem 1.1rem;margin:1.2rem 0}
figure{margin:1.2rem 0}
figure svg{display:block;width:100%;max-width:36rem;margin:0 auto;height:auto}
figcaption{font-size:.9rem;color:var(--soft);max-width:36rem;margin:.4rem auto 0}
@media print{article{break-inside:avoid}}
)";

}  // namespace

std::string style() {
  return std::string(":root{") + light + pictures::light_colours +
         "}\n@media (prefers-color-scheme:dark){:root{" + dark + pictures::dark_colours + "}}\n" +
         layout + pictures::rules;
}

}  // namespace plumbline::verdict
