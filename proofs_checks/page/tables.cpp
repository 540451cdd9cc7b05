// SPDX-License-Identifier: Apache-2.0
// Numbers and checks in rows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "proofs_checks/page/parts.hpp"
#include "support/markup.hpp"

namespace plumbline::proofs_checks {
namespace {

std::string values(const Quantity& quantity) {
  if (quantity.lower == quantity.upper) {
    if (quantity.lower.size() == 1) return fmt::format("{:.17g}", quantity.lower.front());
    return fmt::format("({:.17g})", fmt::join(quantity.lower, ", "));
  }
  std::string text =
      fmt::format("[{:.17g}, {:.17g}]", quantity.lower.front(), quantity.upper.front());
  if (quantity.lower.size() > 1) text += fmt::format(", each of {}", quantity.lower.size());
  return text;
}

/// Checks of one statement, one for each reading.
struct Row {
  Role role;
  std::string what;
  std::vector<const Check*> readings;
};

std::vector<Row> rows_of(const std::vector<Check>& checks) {
  std::vector<Row> rows;
  for (const Check& check : checks) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
      return row.role == check.role && row.what == check.what;
    });
    if (same == rows.end()) {
      rows.push_back({check.role, check.what, {&check}});
    } else {
      same->readings.push_back(&check);
    }
  }
  return rows;
}

}  // namespace

std::string numbers_table(const Sample& sample, const Texts& texts) {
  std::string out = "<table class=\"numbers\"><tbody>";
  for (const Quantity& quantity : sample.quantities) {
    out += fmt::format("<tr><th>{}</th><td>{}</td></tr>", texts(quantity.name),
                       escaped_markup(values(quantity)));
  }
  return out + "</tbody></table>\n";
}

std::string checks_table(const std::vector<Check>& checks, const Texts& texts) {
  std::vector<std::string> readings;
  for (const Check& check : checks) {
    if (std::find(readings.begin(), readings.end(), check.reading) == readings.end()) {
      readings.push_back(check.reading);
    }
  }
  std::string out =
      "<div class=\"wide\"><table class=\"checks\"><thead><tr><th>what is examined</th>"
      "<th>samples</th>";
  for (const std::string& reading : readings) out += "<th>" + escaped_markup(reading) + "</th>";
  out += "</tr></thead><tbody>";
  for (const Row& row : rows_of(checks)) {
    out += fmt::format("<tr><td><span class=\"role\">{}</span> {}</td><td>{}</td>", name(row.role),
                       texts(row.what), row.readings.front()->samples);
    for (const std::string& reading : readings) {
      const auto found =
          std::find_if(row.readings.begin(), row.readings.end(),
                       [&](const Check* check) { return check->reading == reading; });
      out += found == row.readings.end()
                 ? std::string("<td></td>")
                 : fmt::format("<td class=\"{0}\">{0} <small>{1:.1e}</small></td>",
                               name((*found)->outcome), (*found)->worst);
    }
    out += "</tr>";
  }
  return out +
         "</tbody></table></div>\n<p class=\"note\">Below each outcome: the widest enclosure "
         "of a residual.</p>\n";
}

}  // namespace plumbline::proofs_checks
