// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/statement.hpp"

#include <fmt/format.h>

#include <cmath>

namespace plumbline::proofs_checks {

template class Inputs<reference::RunningError>;
template class Inputs<ClaimInterval>;

template <class R>
Residuals<R>::Residuals(const R& residual) : Residuals(std::vector<R>{residual}) {}
template <class R>
Residuals<R>::Residuals(const std::vector<R>& residuals) {
  for (const R& residual : residuals) {
    enclosed.push_back({Reading<R>::enclosure(residual), std::nullopt});
  }
}
template <class R>
Residuals<R>::Residuals(const std::vector<Placed<R>>& residuals) {
  for (const auto& [residual, place] : residuals) {
    enclosed.push_back({Reading<R>::enclosure(residual), place});
  }
}
template struct Residuals<reference::RunningError>;
template struct Residuals<ClaimInterval>;

std::string to_string(const Enclosure& r) {
  // + 0.0 turns the negative zero of an outward rounding into 0.
  return fmt::format("[{:.17g}, {:.17g}]", r.lower + 0.0, r.upper + 0.0);
}

std::string to_string(Relation relation) {
  constexpr const char* words[] = {"= 0", ">= 0", "> 0"};  // in the order of the enumeration
  return words[static_cast<int>(relation)];
}

bool excludes(const Enclosure& r, Relation relation) {
  if (relation == Relation::above_zero) return r.upper <= 0;
  return r.upper < 0 || (relation == Relation::equals_zero && r.lower > 0);
}

bool supports(const Enclosure& r, Relation relation, double resolution) {
  if (relation == Relation::above_zero) return r.lower > 0;
  const bool touches = r.upper >= 0 && r.width <= resolution;
  return relation == Relation::equals_zero ? r.lower <= 0 && touches : r.lower >= 0 || touches;
}

namespace {

/// The digits that a reader needs, of a number or of the ends of an interval that is too wide for
/// one.
std::string rounded(const Enclosure& r) {
  const double middle = r.lower + (r.upper - r.lower) / 2 + 0.0;
  if (r.upper - r.lower <= 1e-4 * std::abs(middle)) return fmt::format("{:.4g}", middle);
  const std::string lower = fmt::format("{:.4g}", r.lower + 0.0);
  const std::string upper = fmt::format("{:.4g}", r.upper + 0.0);
  return lower == upper ? lower : fmt::format("[{}, {}]", lower, upper);
}

/// Where the relation stands in what a check examines, after the residual in words: "p_pos - p_ij
/// >= 0 at every key". npos where the words do not have it once, or say it of several residuals.
std::size_t relation_in(const std::string& what, Relation relation) {
  const std::string sign = " " + to_string(relation);
  const std::size_t begin = what.find(sign), end = begin + sign.size();
  if (begin == std::string::npos || what.find(sign, begin + 1) != std::string::npos)
    return std::string::npos;
  const bool ends =
      end == what.size() || std::string_view(" ,;)").find(what[end]) != std::string_view::npos;
  const std::size_t colon = what.rfind(": ", begin);
  const std::size_t residual = colon == std::string::npos ? 0 : colon;
  return ends && what.find(" and ", residual) > begin ? begin : std::string::npos;
}

/// What was found, for a reader: the check's words with the value in them.
std::string brief(const Check& check, Relation relation, const EnclosedResidual& residual) {
  const std::string at = residual.place ? " at " + *residual.place : "";
  const std::string value = rounded(residual.enclosure);
  const std::string is = (value[0] == '[' ? "is in " : "= ") + value;
  const std::size_t sign = relation_in(check.what, relation);
  if (sign == std::string::npos) {
    return fmt::format("\"{}\" is false{}: a residual that should be {} {}{}", check.what, at,
                       to_string(relation), value[0] == '[' ? "" : "is ",
                       value[0] == '[' ? is : value);
  }
  const std::string after = check.what.substr(sign + 1);
  return fmt::format("{} {}{}, not {}", check.what.substr(0, sign), is, at, after);
}

/// "the residual", "the residual at i = 2, j = 0", "residual 3 of 4".
std::string residual_name(const std::vector<EnclosedResidual>& residuals, std::size_t k) {
  if (residuals[k].place) return "the residual at " + *residuals[k].place;
  if (residuals.size() == 1) return "the residual";
  return "residual " + std::to_string(k + 1) + " of " + std::to_string(residuals.size());
}

using Enclose = std::function<std::vector<EnclosedResidual>(const Sample&)>;

void examine(Check& check, Relation relation, const Enclose& enclose, const Samples& samples) {
  bool all_supported = true;
  for (const Sample& sample : samples) {
    const auto residuals = enclose(sample);
    if (residuals.empty()) continue;  // nothing is said here, so nothing is counted
    ++check.samples;
    check.inputs.push_back(sample);
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      const Enclosure& r = residuals[k].enclosure;
      if (!(r.width <= check.worst)) check.worst = r.width;
      if (excludes(r, relation) && !check.counterexample) {
        check.counterexample =
            Counterexample{sample,
                           residual_name(residuals, k) + " lies in " + to_string(r) +
                               "; the statement says " + to_string(relation),
                           brief(check, relation, residuals[k])};
      }
      all_supported = all_supported && supports(r, relation, check.bound);
    }
  }
  if (check.counterexample) {
    check.outcome = Outcome::refuted;
  } else if (check.samples > 0 && all_supported) {
    check.outcome = Outcome::supported;
  }
}

void seek(Check& check, Relation relation, const Enclose& enclose, const Samples& boxes) {
  bool excluded_everywhere = true;
  std::string found;
  for (const Sample& box : boxes) {
    ++check.samples;
    check.inputs.push_back(box);
    bool excluded = false, witness = true;
    const auto residuals = enclose(box);
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      const Enclosure& r = residuals[k].enclosure;
      if (!(r.width <= check.worst)) check.worst = r.width;
      // That a residual may be 0, up to the resolution, does not prove that something exists.
      witness = witness && supports(r, relation, check.rigorous ? 0.0 : check.bound);
      if (excludes(r, relation) && !excluded) {
        excluded = true;
        found += (found.empty() ? "" : "; ") + to_string(box) + ": " + residual_name(residuals, k) +
                 " lies in " + to_string(r);
      }
    }
    excluded_everywhere = excluded_everywhere && excluded;
    if (witness) check.outcome = Outcome::supported;
  }
  if (!boxes.empty() && excluded_everywhere) {
    check.outcome = Outcome::refuted;
    const std::string everywhere =
        "on every one of the " + std::to_string(boxes.size()) + " boxes that cover the parameters";
    check.counterexample =
        Counterexample{boxes.front(), everywhere + ": " + found,
                       fmt::format("\"{}\" is false, and so it is {}", check.what, everywhere)};
  }
}

using Examine = decltype(examine);
using Precision = ClaimInterval::Precision;

template <class R>
Check under(const Statement::Formula<R>& formula, Examine examine, Role role,
            const std::string& what, Relation relation, const Samples& samples) {
  Check check;
  check.role = role;
  check.what = what;
  check.reading = Reading<R>::name();
  check.rigorous = Reading<R>::rigorous;
  check.bound = Reading<R>::resolution();
  examine(
      check, relation, [&](const Sample& sample) { return formula(Inputs<R>(sample)).enclosed; },
      samples);
  return check;
}

Checks checks(Examine examine, Role role, const std::string& what, const Statement& statement,
              const Samples& samples) {
  return [=] {
    std::vector<Check> made{
        under(statement.in_double, examine, role, what, statement.relation, samples)};
    for (const auto precision : {Precision::bits_64, Precision::reference}) {
      const ClaimInterval::At at(precision);
      made.push_back(
          under(statement.in_intervals, examine, role, what, statement.relation, samples));
    }
    return made;
  };
}

}  // namespace

Checks check(const std::string& what, const Statement& statement, const Samples& samples) {
  return checks(examine, Role::statement, what, statement, samples);
}

Checks condition(const std::string& what, const Statement& statement, const Samples& samples) {
  return checks(examine, Role::condition, what, statement, samples);
}

Checks correction(const std::string& what, const Statement& statement, const Samples& samples) {
  return checks(examine, Role::correction, what, statement, samples);
}

Checks exists(const std::string& what, const Statement& statement, const Samples& boxes) {
  return checks(seek, Role::statement, what, statement, boxes);
}

}  // namespace plumbline::proofs_checks
