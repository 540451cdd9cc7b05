// SPDX-License-Identifier: Apache-2.0
// The page's looks. What is shown and in which colours, its controls decide without a script.
#include "support/pictures/style.hpp"
#include "proofs_checks/page/parts.hpp"

namespace plumbline::proofs_checks {

namespace {

constexpr const char* light =
    "--paper:#fdfdfc;--ink:#1c1f23;--soft:#59626b;--line:#d5dade;--card:#f5f6f7;--link:#005a9c;"
    "--holds:#0063a3;--condition:#8a5a00;--refuted:#b83c00;--other:#59626b;color-scheme:light;";
constexpr const char* dark =
    "--paper:#14171b;--ink:#e4e6e8;--soft:#a3abb3;--line:#343b43;--card:#1b1f25;--link:#7cc0f5;"
    "--holds:#5fb6f0;--condition:#e8b339;--refuted:#ff8f5a;--other:#a3abb3;color-scheme:dark;";

constexpr const char* layout =
    R"(*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,sans-serif;
overflow-wrap:break-word}
main{max-width:52rem;margin:0 auto;padding:1rem}
a{color:var(--link)}
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.3rem;line-height:1.3;margin:2.5rem 0 1rem}
h3{font-size:1.15rem;line-height:1.35;margin:0 0 .4rem}
h4{font-size:.95rem;margin:1.1rem 0 .2rem;color:var(--soft)}
h3 a{color:inherit;text-decoration:none}
h3 a:hover{text-decoration:underline}
p{margin:.4rem 0}
code{font:.88em ui-monospace,monospace;overflow-wrap:anywhere}
math{font-family:"STIX Two Math","Latin Modern Math","Cambria Math","DejaVu Math TeX Gyre",math;
font-size:1.06em}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.92rem}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
.counts td,.counts thead th:not(:first-child){text-align:right}
.counts .total{font-weight:600}
.counts tbody th{font-weight:400}
.counts .total th{font-weight:600}
.nobr{white-space:nowrap}
.numbers th{font-weight:400;white-space:nowrap}
.numbers td{font-family:ui-monospace,monospace;font-size:.88em;overflow-wrap:anywhere}
.checks td:first-child{min-width:15rem}
.checks small{display:block;color:var(--soft)}
.badge{display:inline-block;padding:0 .55em;border-radius:1em;border:1px solid currentColor;
font-size:.82rem;font-weight:600;white-space:nowrap}
.badge.holds,.counts .holds,td.supported{color:var(--holds)}
.badge.holds_under_condition,.counts .holds_under_condition{color:var(--condition)}
.badge.refuted,.counts .refuted,td.refuted{color:var(--refuted)}
.badge.undecided,.badge.not_mathematical{color:var(--other)}
.role,.need,.paper{font-size:.8rem;color:var(--soft)}
.need{font-weight:600}
.meta,.note,.why,.gist{color:var(--soft);font-size:.92rem}
.contents{padding-left:1.1rem}
.contents li{margin:.35rem 0}
.verdicts>summary{cursor:pointer}
.verdicts>summary h2{display:inline;font-size:1.15rem}
.verdicts{margin:1rem 0}
details>summary{cursor:pointer}
fieldset{border:0;padding:0;margin:.3rem 0;display:flex;flex-wrap:wrap;gap:.2rem 1rem}
legend{float:left;margin-right:1rem;color:var(--soft)}
.controls{position:sticky;top:0;z-index:1;background:var(--paper);border:solid var(--line);
border-width:1px 0;padding:.5rem 0;margin:2rem 0 0;font-size:.92rem}
#search{width:min(20rem,100%);font:inherit;color:inherit;background:var(--card);
border:1px solid var(--line);border-radius:.3rem;padding:.2rem .5rem}
.claim{border:1px solid var(--line);border-radius:.5rem;padding:1rem 1.1rem;margin:1.2rem 0;
scroll-margin-top:9rem;overflow-x:auto}
.statement{font-size:1.05rem;margin:.6rem 0}
.box{background:var(--card);border-left:.25rem solid var(--other);border-radius:.3rem;
padding:.1rem .9rem .5rem;margin:.8rem 0}
.box.refuted{border-color:var(--refuted)}
.box.holds_under_condition{border-color:var(--condition)}
.box.holds{border-color:var(--holds)}
.hypotheses{margin:.2rem 0;padding-left:1.1rem}
.hypotheses li{margin:.3rem 0}
figure{margin:1.2rem 0}
figure svg{display:block;width:100%;max-width:36rem;margin:0 auto;height:auto}
figcaption{font-size:.9rem;color:var(--soft);max-width:36rem;margin:.4rem auto 0}
.numbers th,.numbers td{vertical-align:baseline}
.side{display:none}
@media (min-width:1150px){body{display:grid;grid-template-columns:20rem minmax(0,1fr)}
.side{display:block;position:sticky;top:0;height:100vh;overflow-y:auto;padding:1rem;
border-right:1px solid var(--line);font-size:.85rem;line-height:1.4}
.side ul{list-style:none;padding:0;margin:0}.side li{padding:.15rem 0 .15rem .6rem;
border-left:.2rem solid var(--other);margin:.15rem 0}
.side li.refuted{border-color:var(--refuted)}.side li.holds{border-color:var(--holds)}
.side li.holds_under_condition{border-color:var(--condition)}
.side a{color:inherit;text-decoration:none}.side a:hover{text-decoration:underline}
.side p{font-weight:600}}
@media (max-width:30rem){main{padding:.7rem}.claim{padding:.7rem .8rem}
.controls{position:static}.claim{scroll-margin-top:.5rem}}
@media print{.controls,.theme,.side{display:none}.claim{break-inside:avoid}}
)"
#define PLUMBLINE_HIDE(which) \
  "body:has(#show-" which ":not(:checked)) .claim." which "{display:none}\n"
    PLUMBLINE_HIDE("refuted") PLUMBLINE_HIDE("holds_under_condition") PLUMBLINE_HIDE("undecided")
        PLUMBLINE_HIDE("not_mathematical") PLUMBLINE_HIDE("holds") PLUMBLINE_HIDE("bam")
            PLUMBLINE_HIDE("cable") PLUMBLINE_HIDE("alibi");

}  // namespace

std::string style() {
  // Light and dark: the same names with other values, under two selectors for the dark ones.
  const std::string lights = std::string(light) + plumbline::pictures::light_colours;
  const std::string darks = std::string(dark) + plumbline::pictures::dark_colours;
  return ":root{" + lights + "}\n@media (prefers-color-scheme:dark){" +
         ":root:not(:has(#theme-light:checked)){" + darks + "}}\n" +
         ":root:has(#theme-dark:checked){" + darks + "}\n" + layout + plumbline::pictures::rules;
}

}  // namespace plumbline::proofs_checks
