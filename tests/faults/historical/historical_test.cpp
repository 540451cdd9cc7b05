// SPDX-License-Identifier: Apache-2.0
// Historical faults of public kernels (README.md): `plumbline verify --kernel` fails each by its
// default settings, calls none by a wrong name, and passes the same kernels mended.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/program.hpp"

using namespace plumbline;
using nlohmann::json;

namespace {

struct Fault {
  std::string name, reference, pass, bias, format, said;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// None has both.
std::string bias_of(const std::string& method, const std::string& rope) {
  return lower(rope == "NO_ROPE" ? method : rope);
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all{
#define FAULT(name, reference, pass, bias, rope, format, tile, splits, offers, said) \
  {#name, reference, lower(#pass), bias_of(#bias, #rope), lower(#format), said},
#include "tests/faults/historical/faults.def"
#undef FAULT
  };
  return all;
}

/// --pass, --bias and --dtype spare the questions for what the kernel does not offer: its cases are
/// the same without them.
std::string of_cell(const Fault& fault) {
  return " --pass " + fault.pass + " --bias " + fault.bias + " --dtype " + fault.format;
}

test::ProgramRun verify(const std::string& kernels, const std::string& options) {
  return test::plumbline("verify --kernel " HISTORICAL_KERNELS " --kernels " + kernels + options);
}

/// What the report of a failure says of it: names of conventions, else the kind of failure; nothing
/// where it tells places alone.
std::vector<std::string> said_of(const json& judgement) {
  std::vector<std::string> said;
  for (const auto& match : judgement["matches"]) said.push_back(match["name"]);
  if (!said.empty()) return said;
  const std::string kind = judgement["kind"];
  if (kind != "outside_bound") said.push_back(kind);
  return said;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// What went wrong with one fault and seed; nothing is empty.
struct Finding {
  std::string not_caught, misnamed, twin, said;
};

Finding look(const Fault& fault, int seed) {
  Finding finding;
  const auto run = verify(fault.name, of_cell(fault) + " --json --seed " + std::to_string(seed));
  if (run.status != 1) {
    finding.not_caught = "exit status " + std::to_string(run.status) + ": " + run.err;
    return finding;
  }
  const json found = json::parse(run.out)["cells"][0]["counterexample"];
  const auto said = said_of(found["judgement"]);
  finding.said = joined(said);
  std::istringstream words(fault.said);
  const std::vector<std::string> right{std::istream_iterator<std::string>(words), {}};
  for (const auto& word : said) {
    const auto is_it = [&](const std::string& one) { return one == word || one == word + "?"; };
    if (std::none_of(right.begin(), right.end(), is_it)) finding.misnamed = word;
  }
  const std::string repeat = found["repeat"];
  const auto twin = verify(fault.name + "_mended", repeat.substr(repeat.find(" --case ")));
  if (twin.status != 0) finding.twin = twin.out + twin.err;
  return finding;
}

/// From large squares it takes up to a minute to find a smaller failing case: one seed of three.
const std::set<std::string> costly{"triton_621",     "triton_6242", "triton_8853",
                                   "pytorch_127055", "fla_7362d87", "flash_attention_b3f1b6a"};

/// Those of the faults, by their number, by as many threads as there are processors.
std::map<std::size_t, Finding> look_at(const std::vector<std::size_t>& chosen, int seed) {
  std::map<std::size_t, Finding> findings;
  for (const std::size_t fault : chosen) findings[fault] = {};
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < chosen.size(); n = next++) {
      findings.at(chosen[n]) = look(faults()[chosen[n]], seed);
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned n = 0; n < std::max(1U, std::thread::hardware_concurrency()); ++n) {
    workers.emplace_back(work);
  }
  workers.clear();
  return findings;
}

}  // namespace

// One seed each, and others where one case tells too little for a name.
BOOST_AUTO_TEST_CASE(each_is_caught_by_default_settings_and_none_misnamed) {
  std::vector<int> named(faults().size());
  for (const int seed : {1, 2, 3}) {
    std::vector<std::size_t> chosen;
    for (std::size_t n = 0; n < faults().size(); ++n) {
      const std::string& said = faults()[n].said;
      const bool has_name = named[n] > 0 || said.empty() || said.ends_with("?");
      const bool once = costly.contains(faults()[n].name);
      if (once ? seed == 3 : seed == 1 || !has_name) chosen.push_back(n);
    }
    for (const auto& [n, finding] : look_at(chosen, seed)) {
      const auto& [not_caught, misnamed, twin, said] = finding;
      BOOST_TEST_CONTEXT(faults()[n].name << ", seed " << seed << ", said: " << said) {
        BOOST_TEST(not_caught == "");
        BOOST_TEST(misnamed == "");
        // Of the very case that shows the fault.
        BOOST_TEST(twin == "");
      }
      named[n] += misnamed.empty() && !said.empty();
    }
  }
  for (std::size_t n = 0; n < named.size(); ++n) {
    const std::string& said = faults()[n].said;
    BOOST_TEST((named[n] > 0 || said.empty() || said.ends_with("?")),
               faults()[n].name << " is never named");
  }
}

BOOST_AUTO_TEST_CASE(the_mended_ones_pass) {
  // Triton's squares take half of the time: a case of each.
  std::string mended, of_triton;
  for (const auto& fault : faults()) {
    std::string& list = fault.name.starts_with("triton_") ? of_triton : mended;
    list += (list.empty() ? "" : ",") + fault.name + "_mended";
  }
  for (const auto& run : {verify(mended, ""), verify(of_triton, " --seed 2 --cases 4")}) {
    BOOST_TEST(run.status == 0, run.out + run.err);
  }
}

BOOST_AUTO_TEST_CASE(each_has_its_reference_in_the_readme) {
  const std::string readme = test::text_of(HISTORICAL_README);
  for (const auto& fault : faults()) {
    const std::string row = "\n| `" + fault.name + "` | " + fault.reference + " | ";
    BOOST_TEST(readme.find(row) != std::string::npos, row);
  }
  BOOST_TEST(faults().size() >= 20u);
}
