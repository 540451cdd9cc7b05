// SPDX-License-Identifier: Apache-2.0
#include "verdict/property/merge.hpp"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

namespace plumbline::verdict {
namespace {

using nlohmann::json;

template <class T, class Structure>
concept Is = std::same_as<std::remove_const_t<T>, Structure>;

// Structures are taken apart whole: one that gets another field does not compile here, lest it be
// forgotten.
template <Is<ErrorMap> T>
auto fields(T& map) {
  auto& [slice, row_axis, column_axis, rows, columns, cells] = map;
  return std::tie(slice, row_axis, column_axis, rows, columns, cells);
}

template <class... Fields>
json told(const std::tuple<Fields&...>& all) {
  json list = json::array();
  std::apply([&](const auto&... field) { (list.push_back(json(field)), ...); }, all);
  return list;
}

template <class... Fields>
void read(const json& list, const std::tuple<Fields&...>& all) {
  std::size_t n = 0;
  std::apply([&](auto&... field) { (list.at(n++).get_to(field), ...); }, all);
}

cases::Spec spec_of(const json& line) {
  return cases::from_line(line.get_ref<const std::string&>());
}

json told(const OutputSummary& output) {
  const auto& [worst, elements, nonzero, blind, distribution, worst_case, worst_at, worst_map] =
      output;
  return json::array({told(std::tie(worst, elements, nonzero, blind, worst_at)),
                      json(distribution.counts()), cases::to_line(worst_case),
                      told(fields(worst_map))});
}

OutputSummary output_of(const json& from) {
  OutputSummary output;
  read(from.at(0),
       std::tie(output.worst, output.elements, output.nonzero, output.blind, output.worst_at));
  output.distribution = Distribution(from.at(1).get<Distribution::Counts>());
  output.worst_case = spec_of(from.at(2));
  read(from.at(3), fields(output.worst_map));
  return output;
}

json told(const CellResult& cell) {
  // Who unpacks knows which cell it is, and what its kernel declares.
  [[maybe_unused]] const auto& [kernel, pass, bias, format, supported, contract, outcome, cases,
                                undecided, rows, ill_conditioned_rows, rows_left_out, outputs,
                                counterexample, decided_at, cover, declined] = cell;
  json summaries = json::object();
  for (const auto& [name, output] : outputs) summaries[name] = told(output);
  json found = json::array();
  if (counterexample) {
    const auto& [kind, failure] =
        std::tie(counterexample->judgement.kind, counterexample->judgement.failure);
    found = {cases::to_line(counterexample->spec), kind, failure};
  }
  return json::array({told(std::tie(outcome, cases, undecided, rows, ill_conditioned_rows,
                                    rows_left_out, decided_at)),
                      summaries, found, json(cover.cases), cover.unjudged_rows});
}

CellResult cell_of(const json& from) {
  CellResult cell;
  read(from.at(0), std::tie(cell.outcome, cell.cases, cell.undecided, cell.rows,
                            cell.ill_conditioned_rows, cell.rows_left_out, cell.decided_at));
  for (const auto& [name, output] : from.at(1).items()) cell.outputs[name] = output_of(output);
  from.at(3).get_to(cell.cover.cases);
  from.at(4).get_to(cell.cover.unjudged_rows);
  if (const json& found = from.at(2); !found.empty()) {
    cell.counterexample.emplace();
    cell.counterexample->spec = spec_of(found.at(0));
    Judgement& judgement = cell.counterexample->judgement;
    judgement.outcome = cell.outcome;
    found.at(1).get_to(judgement.kind);
    found.at(2).get_to(judgement.failure);
  }
  return cell;
}

void merge(OutputSummary& output, const OutputSummary& part) {
  const bool worse =
      part.worst > output.worst || (part.worst == output.worst && part.worst_at < output.worst_at);
  if (output.elements == 0 || (part.elements > 0 && worse)) {
    output.worst = part.worst;
    output.worst_at = part.worst_at;
    output.worst_case = part.worst_case;
    output.worst_map = part.worst_map;
  }
  output.elements += part.elements;
  output.nonzero += part.nonzero;
  output.blind += part.blind;
  output.distribution.add(part.distribution);
}

}  // namespace

std::vector<std::byte> pack(const std::vector<CellResult>& cells) {
  json list = json::array();
  for (const CellResult& cell : cells) list.push_back(told(cell));
  // CBOR has infinities, which JSON's text has not.
  const auto packed = json::to_cbor(list);
  std::vector<std::byte> bytes(packed.size());
  std::memcpy(bytes.data(), packed.data(), packed.size());
  return bytes;
}

std::vector<CellResult> unpack(std::span<const std::byte> bytes) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::vector<CellResult> cells;
  for (const json& cell : json::from_cbor(begin, begin + bytes.size())) {
    cells.push_back(cell_of(cell));
  }
  return cells;
}

void merge(CellResult& cell, const CellResult& part) {
  const bool decides =
      part.counterexample && (!cell.counterexample || part.outcome > cell.outcome ||
                              (part.outcome == cell.outcome && part.decided_at < cell.decided_at));
  if (decides) {
    cell.counterexample = part.counterexample;
    cell.decided_at = part.decided_at;
  }
  cell.outcome = worse(cell.outcome, part.outcome);
  cell.cases += part.cases;
  cell.undecided += part.undecided;
  cell.rows += part.rows;
  cell.ill_conditioned_rows += part.ill_conditioned_rows;
  cell.cover.add(part.cover);
  cell.rows_left_out += part.rows_left_out;
  for (const auto& [name, output] : part.outputs) merge(cell.outputs[name], output);
}

}  // namespace plumbline::verdict
