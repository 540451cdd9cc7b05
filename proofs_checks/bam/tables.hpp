// SPDX-License-Identifier: Apache-2.0
// The manuscript's tables of results.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proofs_checks/tables.hpp"

namespace plumbline::proofs_checks::bam {

/// Table 1: parameters in millions as printed, and sizes; the feed-forward width as a multiple.
struct Model {
  std::string name;
  double total, embedding, transformer;
  int heads, layers, width, feed_forward;
};
inline const std::vector<Model> table_1 = {{"120M", 120, 25, 95, 16, 12, 768, 2},
                                           {"432M", 432, 50, 380, 24, 14, 1536, 2},
                                           {"1.1B", 1100, 67, 1000, 32, 15, 2048, 4}};

/// Table 2: perplexities in units of 10^-4, Wikipedia and FineWeb, 120M models.
struct Perplexity {
  std::string method;
  int wikipedia, fineweb;
};
inline const std::vector<Perplexity> table_2 = {
    {"Sinusoidal", 189310, 223573}, {"ALiBi", 185452, 221771},
    {"NoPE", 198609, 237898},       {"BAM", 189281, 222640},
    {"RoPE", 183599, 224428},       {"Sinusoidal SSMax", 191467, 223150},
    {"NoPE SSMax", 203899, 237581}, {"ALiBi SSMax", 184967, 222125},
    {"BAM SSMax", 186897, 221363},  {"RoPE SSMax", 201854, 244507}};

inline const std::vector<int> table_4_lengths = {1024, 1536, 2048,  3072, 4096,
                                                 6144, 8192, 10240, 12288};
/// Table 4: accuracy in hundredths on Single 1, 2 and 3 of the needle task, 120M models.
inline const std::vector<Table> table_4 = {{table_4_lengths,
                                            {{"NoPE SSMax", {4, 0, 0, 0, 0, 0, 0, 0, 0}},
                                             {"RoPE SSMax", {100, 100, 100, 100, 64, 0, 0, 0, 0}},
                                             {"ALiBi SSMax", {96, 26, 22, 18, 16, 10, 2, 4, 2}},
                                             {"RoPE Local", {40, 22, 24, 20, 12, 8, 0, 2, 0}},
                                             {"Sinusoidal SSMax", {0, 0, 0, 0, 0, 0, 0, 0, 0}},
                                             {"BAM", {100, 100, 100, 100, 100, 100, 98, 92, 88}}}},
                                           {table_4_lengths,
                                            {{"NoPE SSMax", {70, 0, 0, 0, 0, 0, 0, 0, 0}},
                                             {"RoPE SSMax", {98, 96, 94, 84, 52, 0, 0, 0, 0}},
                                             {"ALiBi SSMax", {100, 46, 12, 10, 6, 2, 0, 0, 0}},
                                             {"RoPE Local", {84, 36, 10, 14, 10, 0, 0, 0, 0}},
                                             {"Sinusoidal SSMax", {70, 0, 0, 0, 0, 0, 0, 0, 0}},
                                             {"BAM", {100, 100, 100, 88, 24, 6, 2, 0, 0}}}},
                                           {table_4_lengths,
                                            {{"NoPE SSMax", {4, 0, 0, 0, 0, 0, 0, 0, 0}},
                                             {"RoPE SSMax", {28, 30, 10, 6, 0, 0, 0, 0, 0}},
                                             {"ALiBi SSMax", {24, 4, 0, 0, 0, 0, 0, 0, 0}},
                                             {"RoPE Local", {10, 0, 0, 0, 0, 0, 0, 0, 0}},
                                             {"Sinusoidal SSMax", {8, 0, 0, 0, 0, 0, 0, 0, 0}},
                                             {"BAM", {84, 68, 42, 8, 0, 0, 0, 0, 0}}}}};
/// Everything in Table 4 that is compared with "BAM".
inline const std::vector<std::string> table_4_baselines = {
    "NoPE SSMax", "RoPE SSMax", "ALiBi SSMax", "RoPE Local", "Sinusoidal SSMax"};

/// The sum of each column of a table without dashes, with the roundings of all its numbers.
inline Sample rounded_sums(const Table& table) {
  Sample rounded;
  for (const Quantity& sum : sums(table).quantities) {
    rounded.with(printed(sum.name, sum.lower.front(), double(table.lengths.size())));
  }
  return rounded;
}

/// Table 5: accuracy in hundredths of "BAM" and "RoPE", 1B models, by task.
inline std::pair<const std::string, Table> in_table_5(const std::string& task,
                                                      const std::vector<int>& bam,
                                                      const std::vector<int>& rope) {
  return {task,
          {{1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768},
           {{"BAM", bam}, {"RoPE", rope}}}};
}
inline const std::map<std::string, Table> table_5 = {
    in_table_5("Single 1", {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100},
               {100, 88, 68, 40, 30, 10, 2, 0, 0, 0, 0}),
    in_table_5("Single 2", {100, 100, 100, 98, 100, 88, 82, 46, 18, 6, 2},
               {100, 82, 62, 32, 18, 4, 0, 0, 0, 0, 0}),
    in_table_5("Single 3", {88, 92, 88, 86, 80, 62, 30, 10, 2, 0, 0},
               {76, 30, 16, 4, 2, 0, 0, 0, 0, 0, 0}),
    in_table_5("MultiKey 1", {84, 86, 94, 92, 86, 76, 66, 56, 24, 10, 6},
               {80, 86, 68, 38, 32, 8, 6, 0, 0, 0, 0}),
    in_table_5("MultiKey 2", {22, 16, 12, 4, 4, 0, 2, 2, 0, 0, 0},
               {26, 14, 4, 0, 0, 0, 0, 0, 0, 0, 0}),
    in_table_5("MultiKey 3", {12, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0},
               {18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
    in_table_5("MultiQuery", {88, 88, 85, 82, 71, 68, 62, 44, 23, 10, 2},
               {85, 76, 42, 17, 11, 6, 3, 3, 1, 1, 1}),
    in_table_5("MultiValue", {96, 94, 92, 92, 82, 84, 76, 70, 38, 14, 0},
               {96, 100, 100, 78, 70, 42, 32, 10, 4, 8, 0})};

/// Table 6: right answers in tenths of a percent, and how many questions LongBench v2 has in all,
/// of any length. "Overall" is the last row; the sixth task is left out of the table.
struct LongBenchTask {
  std::string name;
  int bam, rope, at_most;
};
inline const std::vector<LongBenchTask> table_6 = {
    {"Code Repository Understanding", 417, 250, 50},
    {"Long In-context Learning", 364, 303, 81},
    {"Long-dialogue History Understanding", 350, 350, 39},
    {"Multi-Document QA", 265, 253, 125},
    {"Single-Document QA", 265, 188, 175}};
inline const LongBenchTask table_6_overall = {"Overall", 286, 242, 503};

/// Table 7: accuracy in tenths by length in units of 51,200 tokens (0 for "<1K"), with and without
/// extension ("120M", "120M Ext.", ...).
inline const Table table_7 = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                              {{"120M", {10, 10, 9, 9, 9, 8, 7, 7, 8, 6, 4}},
                               {"120M Ext.", {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}},
                               {"431M", {10, 5, 1, 3, 1, 1, 1, 2, 1, 0, 2}},
                               {"431M Ext.", {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}},
                               {"1.1B", {9, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0}},
                               {"1.1B Ext.", {10, 10, 10, 10, 10, 9, 10, 8, 9, 7, 7}}}};

/// Table 8: mean time and its standard deviation in hundredths of a millisecond, and memory in
/// units of 0.001 GB, for the sizes 120M, 430M and 1.1B.
struct Timing {
  std::string method;
  std::vector<int> mean, deviation, memory;
};
inline const std::vector<Timing> table_8 = {
    {"Sinusoidal", {3284, 5098, 11726}, {40, 37, 42}, {1734, 4933, 12329}},
    {"Sinusoidal SSMax", {3282, 5339, 12091}, {113, 28, 55}, {1736, 4933, 12324}},
    {"RoPE", {3577, 5342, 12050}, {198, 38, 36}, {1754, 4936, 12330}},
    {"RoPE SSMax", {3604, 5565, 12334}, {139, 17, 42}, {1742, 4934, 12325}},
    {"ALiBi", {3143, 5224, 11934}, {73, 27, 39}, {1738, 4933, 12329}},
    {"ALiBi SSMax", {3221, 5422, 12209}, {9, 21, 33}, {1736, 4934, 12325}},
    {"BAM", {3313, 5285, 12031}, {53, 24, 38}, {1739, 4936, 12329}},
    {"BAM SSMax", {3301, 5950, 13314}, {81, 18, 41}, {1737, 4936, 12319}},
    {"NoPE", {3815, 5610, 12134}, {187, 42, 80}, {1738, 4933, 12329}},
    {"NoPE SSMax", {3849, 5836, 12495}, {130, 70, 60}, {1736, 4933, 12324}}};

}  // namespace plumbline::proofs_checks::bam
