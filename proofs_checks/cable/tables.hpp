// SPDX-License-Identifier: Apache-2.0
// The result tables of CABLE, second version; those that the first version has are the same there.
// Perplexities (less is better) but for table 3, which is nDCG@10 (more is better).
#pragma once

#include "proofs_checks/tables.hpp"

namespace plumbline::proofs_checks::cable {

inline constexpr int none = Table::missing;
inline const std::vector<int> to_8192 = {512, 1024, 2048, 4096, 8192};
inline const std::vector<int> to_15360 = {512, 1024, 2048, 4096, 8192, 15360};
inline const std::vector<int> to_16384 = {512, 1024, 2048, 4096, 8192, 16384};

/// GPT-2 Medium on FineWeb-Edu-10B.
inline const Table table_1_fineweb = {
    to_15360,
    {{"CABLE", {1700, 1652, 1597, 1534, 1541, 1541}},
     {"CABLE_NW", {1722, 1673, 1624, 1579, 1597, 1603}},
     {"ALiBi", {1730, 1679, 1656, 1667, 1723, 1746}},
     {"Fire", {1760, 1711, 1960, 10198, 38308, 83592}},
     {"T5-bias", {1779, 1726, 3832, 24369, 79953, 145083}},
     {"Kerple", {1722, 1670, 1628, 1678, 2032, 2613}},
     {"RoPE", {1739, 1689, 3895, 14672, 36126, 69190}},
     {"Learnable", {1799, 1747, none, none, none, none}},
     {"Sinusoidal", {1798, 1748, 21980, 105884, 248584, 335586}}}};
/// GPT-2 Tiny on WikiText-103.
inline const Table table_1_wikitext = {
    to_15360,
    {{"CABLE", {2370, 2232, 2148, 2094, 2065, 2033}},
     {"CABLE_NW", {2432, 2301, 2219, 2170, 2146, 2113}},
     {"ALiBi", {2409, 2274, 2205, 2173, 2158, 2130}},
     {"Fire", {2434, 2290, 2268, 2957, 5489, 10479}},
     {"T5-bias", {2506, 2360, 2764, 7399, 19864, 41109}},
     {"Kerple", {2395, 2256, 2172, 2132, 2133, 2158}},
     {"RoPE", {2366, 2226, 4140, 11477, 22056, 37562}},
     {"Learnable", {2494, 2353, none, none, none, none}},
     {"Sinusoidal", {2518, 2373, 17233, 60748, 134823, 201742}}}};
/// GPT-2 Small on FineWeb-Edu-10B, trained at 512.
inline const Table table_2 = {to_8192,
                              {{"CABLE", {2117, 2072, 2023, 1960, 1987}},
                               {"Kerple", {2141, 2112, 2258, 2804, 3938}},
                               {"DAPEv2+CABLE", {2041, 1991, 1930, 1855, 1863}},
                               {"DAPEv2+Kerple", {2056, 2007, 1951, 1879, 1892}}}};
/// BERT, retrieval on MLDR.
inline const Table table_3 = {to_16384,
                              {{"CABLE", {1496, 1515, 1677, 2136, 2459, 2510}},
                               {"ALiBi", {1402, 1288, 1430, 1871, 2286, 2344}},
                               {"RoPE", {1516, 1441, 1026, 117, 12, 12}},
                               {"Learnable", {1042, none, none, none, none, none}},
                               {"Sinusoidal", {1357, 1280, 103, 0, 0, 0}}}};
/// Table 4 is on FineWeb-Edu-10B, table 5 on WikiText-103.
inline const Table table_4_small = {to_15360,
                                    {{"CABLE", {2119, 2063, 2002, 1924, 1931, 1928}},
                                     {"CABLE_NW", {2142, 2089, 2034, 1967, 1981, 1982}},
                                     {"ALiBi", {2155, 2099, 2067, 2123, 2242, 2289}},
                                     {"Fire", {2184, 2126, 2248, 5325, 15532, 33391}},
                                     {"T5-bias", {2217, 2157, 2937, 13136, 40594, 75736}},
                                     {"Kerple", {2146, 2086, 2038, 2111, 2659, 3491}},
                                     {"RoPE", {2143, 2087, 5859, 22578, 55412, 95787}},
                                     {"Learnable", {2216, 2156, none, none, none, none}},
                                     {"Sinusoidal", {2238, 2183, 20753, 95641, 237651, 358997}}}};
inline const Table table_4_tiny = {to_15360,
                                   {{"CABLE", {2937, 2873, 2796, 2690, 2697, 2680}},
                                    {"CABLE_NW", {3012, 2957, 2888, 2785, 2792, 2775}},
                                    {"ALiBi", {2988, 2925, 2882, 2828, 2680, 2852}},
                                    {"Fire", {3023, 2956, 2960, 3786, 7072, 12429}},
                                    {"T5-bias", {3078, 3008, 3381, 8633, 22260, 44808}},
                                    {"Kerple", {2960, 2895, 2832, 2831, 3200, 3767}},
                                    {"RoPE", {2944, 2881, 7629, 23995, 45267, 65252}},
                                    {"Learnable", {3073, 3011, none, none, none, none}},
                                    {"Sinusoidal", {3067, 3003, 27528, 116646, 256154, 367978}}}};
inline const Table table_5_medium = {to_15360,
                                     {{"CABLE", {2033, 1912, 1836, 1787, 1758, 1736}},
                                      {"CABLE_NW", {2080, 1963, 1891, 1847, 1823, 1795}},
                                      {"ALiBi", {2080, 1962, 1904, 1891, 1889, 1860}},
                                      {"Fire", {2218, 2089, 2186, 4660, 10627, 19593}},
                                      {"T5-bias", {2333, 2200, 3546, 12419, 36359, 72618}},
                                      {"Kerple", {2096, 1973, 1901, 1863, 1861, 1879}},
                                      {"RoPE", {2081, 1960, 2078, 3122, 5154, 9153}},
                                      {"Learnable", {2252, 2123, none, none, none, none}},
                                      {"Sinusoidal", {2416, 2277, 14358, 46751, 100637, 151697}}}};
inline const Table table_5_small = {to_15360,
                                    {{"CABLE", {2093, 1971, 1895, 1847, 1820, 1792}},
                                     {"CABLE_NW", {2134, 2015, 1942, 1898, 1875, 1848}},
                                     {"ALiBi", {2146, 2022, 1962, 1939, 1929, 1906}},
                                     {"Fire", {2203, 2074, 2128, 3602, 8177, 16391}},
                                     {"T5-bias", {2280, 2149, 3385, 12305, 34722, 65972}},
                                     {"Kerple", {2150, 2022, 1945, 1904, 1891, 1900}},
                                     {"RoPE", {2138, 2013, 3014, 6375, 11781, 20223}},
                                     {"Learnable", {2251, 2121, none, none, none, none}},
                                     {"Sinusoidal", {2309, 2173, 16349, 58086, 112108, 165253}}}};

/// The seven methods beside CABLE and CABLE_NW, by their columns.
inline const std::vector<std::string> baselines = {"ALiBi", "Fire",      "T5-bias",   "Kerple",
                                                   "RoPE",  "Learnable", "Sinusoidal"};

/// Pairs of rows of these columns of these tables, as `pairs` has them.
inline Samples pairs_of(const std::vector<Table>& tables, const std::vector<std::string>& columns,
                        int shortest, int longest, int against = 0) {
  Samples samples;
  for (const Table& table : tables) {
    for (const std::string& column : columns) {
      for (Sample& pair : pairs(table, column, shortest, longest, against)) {
        samples.push_back(std::move(pair));
      }
    }
  }
  return samples;
}

/// times_other other - times_one one > 0 for each of `others` that the sample has.
inline Statement scaled_below(const std::string& one, double times_one,
                              const std::vector<std::string>& others, double times_other) {
  return above_zero([=]<class R>(const Inputs<R>& in) {
    std::vector<Placed<R>> residuals;
    for (const std::string& other : others) {
      if (in.has(other))
        residuals.push_back(
            {R(times_other) * in.number(other) - R(times_one) * in.number(one), other});
    }
    return residuals;
  });
}

/// A number of the sample under another name.
inline Quantity renamed(const Sample& sample, const std::string& name, const std::string& to) {
  Quantity quantity = *sample.find(name);
  quantity.name = to;
  return quantity;
}

/// A number of one row, `here`, against that of another, `before`: h here - b before > 0.
inline auto exceeds(double h, double b) {
  return above_zero<"here", "before">(
      [=]<class R>(R here, R before) { return R(h) * here - R(b) * before; });
}
/// b before - h here > 0.
inline auto undercuts(double b, double h) {
  return above_zero<"here", "before">(
      [=]<class R>(R here, R before) { return R(b) * before - R(h) * here; });
}

/// The six blocks of perplexities of Tables 1, 4 and 5.
inline const std::vector<Table> perplexity_tables = {
    table_1_fineweb, table_1_wikitext, table_4_small, table_4_tiny, table_5_medium, table_5_small};
inline const std::vector<Table> fineweb_and_wikitext = {table_1_fineweb, table_1_wikitext};

}  // namespace plumbline::proofs_checks::cable
