// SPDX-License-Identifier: Apache-2.0
// The pages' looks.
#include "support/pictures/style.hpp"
#include "support/pages/page.hpp"

namespace plumbline::pages {
namespace {

constexpr const char* light =
    "--card:#f5f6f7;--link:#005a9c;--good:#0063a3;--doubtful:#8a5a00;--bad:#b83c00;"
    "color-scheme:light;";
constexpr const char* dark =
    "--card:#1b1f25;--link:#7cc0f5;--good:#5fb6f0;--doubtful:#e8b339;--bad:#ff8f5a;"
    "color-scheme:dark;";

constexpr const char* layout =
    R"(*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,sans-serif;
overflow-wrap:break-word}
main{max-width:60rem;margin:0 auto;padding:1rem}
.side+main{max-width:52rem}
a{color:var(--link)}
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.3rem;line-height:1.3;margin:2.5rem 0 1rem}
h3{font-size:1.15rem;line-height:1.35;margin:0 0 .4rem}
h4{font-size:.95rem;margin:1.1rem 0 .2rem;color:var(--soft)}
h3 a,.side a{color:inherit;text-decoration:none}
h3 a:hover,.side a:hover{text-decoration:underline}
p,details{margin:.4rem 0}
code,pre{font:.88em/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
pre{background:var(--card);padding:.6rem .8rem;border-radius:.3rem;white-space:pre-wrap}
pre code{font-size:1em}
math{font-family:"STIX Two Math","Latin Modern Math","Cambria Math","DejaVu Math TeX Gyre",math;
font-size:1.06em}
summary{cursor:pointer}
details:has(>summary h2){margin:1rem 0}
summary h2{display:inline;font-size:1.15rem}
summary h3{display:inline}
.folds{display:flex;flex-wrap:wrap;gap:0 1.4rem}
.folds>*{min-width:0}
.folds>[open]{flex-basis:100%}
button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
border-radius:.3rem;padding:.15rem .6rem;cursor:pointer}
.nobr{white-space:nowrap}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.92rem}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
table:not(.numbers) tbody th{font-weight:400}
.numbers td{font-variant-numeric:tabular-nums}
.numbers code{display:block;min-width:24rem;font-size:.76em}
.counts td,.counts thead th:not(:first-child){text-align:right}
.counts .total,.counts .total th,.need{font-weight:600}
.checks tbody th{min-width:15rem}
.checks small{display:block;color:var(--soft)}
.badge{display:inline-block;padding:0 .55em;border-radius:1em;border:1px solid currentColor;
font-size:.82rem;font-weight:600;white-space:nowrap}
span:is(.pass,.holds,.supported){color:var(--good)}
span:is(.undecided,.holds_under_condition){color:var(--doubtful)}
span:is(.FAIL,.refuted){color:var(--bad)}
:is(.box,.side li).holds{border-color:var(--good)}
:is(.box,.side li).holds_under_condition{border-color:var(--doubtful)}
:is(.box,.side li).refuted{border-color:var(--bad)}
.badge.not_mathematical{color:var(--soft)}
.place{color:var(--soft);font-weight:400}
.place:after{content:" ·"}
.side [aria-current]{font-weight:600}
.role,.need,.paper{font-size:.8rem;color:var(--soft)}
.meta,.note,.why,.gist{color:var(--soft);font-size:.92rem}
.contents,.hypotheses{padding-left:1.1rem}
.contents li,.hypotheses li{margin:.35rem 0}
fieldset{border:0;padding:0;margin:.3rem 0;display:flex;flex-wrap:wrap;gap:.2rem 1rem}
legend{float:left;margin-right:1rem;color:var(--soft)}
.controls{position:sticky;top:0;z-index:1;background:var(--paper);border:solid var(--line);
border-width:1px 0;padding:.5rem 0;margin:2rem 0 0;font-size:.92rem}
#search{width:min(20rem,100%);font:inherit;color:inherit;background:var(--card);
border:1px solid var(--line);border-radius:.3rem;padding:.2rem .5rem}
article{border:1px solid var(--line);border-radius:.5rem;padding:.5rem 1.1rem;margin:.6rem 0;
overflow-x:auto}
.controls~article{scroll-margin-top:9rem}
.statement{font-size:1.05rem;margin:.6rem 0}
.box{background:var(--card);border-left:.25rem solid var(--soft);border-radius:.3rem;
padding:.1rem .9rem .5rem;margin:.8rem 0}
figure{margin:1.2rem 0}
figure svg{display:block;width:100%;max-width:36rem;margin:0 auto;height:auto}
figcaption{font-size:.9rem;color:var(--soft);max-width:36rem;margin:.4rem auto 0}
.side{display:none}
@media (min-width:1150px){body:has(.side){display:grid;grid-template-columns:20rem minmax(0,1fr)}
.side{display:block;position:sticky;top:0;height:100vh;overflow-y:auto;padding:1rem;
border-right:1px solid var(--line);font-size:.85rem;line-height:1.4}
.side ul{list-style:none;padding:0;margin:0}
.side li{padding:.15rem 0 .15rem .6rem;border-left:.2rem solid var(--soft);margin:.15rem 0}
.side p{font-weight:600}}
@media (max-width:30rem){.side+main{padding:.7rem}.controls~article{padding:.7rem .8rem;
scroll-margin-top:.5rem}.controls{position:static}}
@media print{.controls,.theme,.side{display:none}article{break-inside:avoid}}
)";

}  // namespace

std::string style() {
  // Light and dark: the same names with other values, under two selectors for the dark ones.
  const std::string lights = std::string(light) + pictures::light_colours;
  const std::string darks = std::string(dark) + pictures::dark_colours;
  return ":root{" + lights + "}\n@media (prefers-color-scheme:dark){" +
         ":root:not(:has(#theme-light:checked)){" + darks + "}}\n" +
         ":root:has(#theme-dark:checked){" + darks + "}\n" + layout + pictures::rules;
}

}  // namespace plumbline::pages
