// SPDX-License-Identifier: Apache-2.0
// Kernels of tests/verdict/test_kernels.cpp, loaded, run, checked and reported.
#include "verdict/property/property.hpp"

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "support/error.hpp"
#include "support/markup.hpp"
#include "support/out_of_memory.hpp"
#include "tests/at_length.hpp"
#include "verdict/conventions/separating_property.hpp"
#include "verdict/process/guards.hpp"
#include "verdict/property/spec_generator.hpp"
#include "verdict/report/report.hpp"

BOOST_AUTO_TEST_SUITE(property_test)

using namespace plumbline;
using cases::Format;
using verdict::Outcome;

namespace {

verdict::Kernel kernel(const std::string& name) {
  for (const auto& kernel : verdict::load_kernel_library(TEST_KERNELS).kernels) {
    if (kernel.name() == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

verdict::CellResult check(const std::string& name, int cases = 60) {
  return verdict::check_cell(kernel(name), cases::Pass::forward, PLUMBLINE_NOPE, Format::fp32,
                             cases, 3, 2, [](int) {});
}

int runs = 0;

/// Writes nothing of many keys, and says so of fewer: a failure of another kind.
int fails_in_two_ways(const plumbline_problem* p, const plumbline_outputs*, char*, size_t) {
  ++runs;
  return p->keys < 1500;
}
int takes_large_squares(const plumbline_problem* p, int32_t) {
  return p->format == PLUMBLINE_FP32 && p->bias == PLUMBLINE_NOPE && p->rope == 0 &&
         p->keys >= 1024 && p->queries == p->keys && p->head_dim == 64 && p->batch * p->heads == 1;
}

std::string message_of(const std::filesystem::path& library) {
  try {
    verdict::load_kernel_library(library);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_right_kernel_passes) {
  const auto result = check("right");
  BOOST_TEST((result.outcome == Outcome::pass));
  BOOST_TEST(result.cases == 60);
  BOOST_TEST(result.rows > 1000);
  BOOST_TEST(!result.counterexample.has_value());
}

BOOST_AUTO_TEST_CASE(a_failing_case_shrinks_to_the_smallest_shape_that_still_fails) {
  const auto result = check("drops_the_last_key_from_five_on");
  BOOST_TEST((result.outcome == Outcome::fail));
  BOOST_REQUIRE(result.counterexample.has_value());
  const auto& spec = result.counterexample->spec;
  BOOST_TEST(spec.keys == 5);
  BOOST_TEST(spec.batch == 1);
  BOOST_TEST(spec.heads == 1);
  BOOST_TEST(spec.head_dim == 32);
  BOOST_TEST(!spec.ssmax);
  BOOST_TEST(!spec.mask.ragged);
  // The repro line's case fails alone, and only in the kernel that is wrong.
  const auto parsed = cases::from_line(cases::to_line(spec));
  const auto wrong = kernel("drops_the_last_key_from_five_on");
  BOOST_TEST((verdict::check_spec(wrong, parsed, 1).outcome == Outcome::fail));
  BOOST_TEST((verdict::check_spec(kernel("right"), parsed, 1).outcome == Outcome::pass));
}

BOOST_AUTO_TEST_CASE(the_search_for_a_smaller_failing_case_ends) {
  plumbline_kernel declared{};
  declared.name = "fails_in_two_ways";
  for (auto& contract : declared.contracts) {
    contract.unit_roundoff = 0x1p-24;
    contract.exp_error = 0x1p-20;
    contract.splits = 1;
  }
  declared.supports = takes_large_squares;
  declared.forward = fails_in_two_ways;
  const auto check_with = [&](verdict::Draws draws) {
    runs = 0;
    draws.shapes.longest = 2048;
    return verdict::check_cell(
        verdict::Kernel(nullptr, declared), cases::Pass::forward, PLUMBLINE_NOPE, Format::fp32, 20,
        1, 2, [](int) {}, {}, draws);
  };
  BOOST_TEST((check_with({.most_smaller = 1}).outcome == Outcome::fail));
  BOOST_TEST(runs == 2);
  BOOST_TEST((check_with({.most_work_of_smaller = 1}).outcome == Outcome::fail));
  BOOST_TEST(runs == 2);
}

BOOST_AUTO_TEST_CASE(the_same_seed_draws_the_same_cases) {
  BOOST_TEST((verdict::draw_specs(cases::Pass::forward, PLUMBLINE_GGD, Format::bf16, 20, 9) ==
              verdict::draw_specs(cases::Pass::forward, PLUMBLINE_GGD, Format::bf16, 20, 9)));
  BOOST_TEST((verdict::draw_specs(cases::Pass::forward, PLUMBLINE_GGD, Format::bf16, 20, 9) !=
              verdict::draw_specs(cases::Pass::forward, PLUMBLINE_GGD, Format::bf16, 20, 10)));
}

BOOST_AUTO_TEST_CASE(drawn_cases_cover_every_family_mask_and_head_dim) {
  std::set<cases::Family> families;
  std::set<int> head_dims, groups;
  int narrow_windows = 0, causal = 0, window = 0, ragged = 0, documents = 0, grouped = 0,
      offset = 0, ssmax = 0;
  for (const auto& spec :
       verdict::draw_specs(cases::Pass::forward, PLUMBLINE_CABLE, Format::fp32, 200, 1)) {
    families.insert(spec.family);
    head_dims.insert(spec.head_dim);
    groups.insert(spec.heads / spec.kv_heads);
    narrow_windows += spec.mask.window.hides() && spec.mask.window.left <= 1;
    causal += spec.mask.causal;
    window += spec.mask.window.hides();
    ragged += spec.mask.ragged;
    documents += spec.mask.documents;
    grouped += spec.heads != spec.kv_heads;
    offset += spec.query_offset > 0;
    ssmax += spec.ssmax;
  }
  BOOST_TEST(families.size() == 7u);
  for (const int dim : {8, 16, 32, 40, 48, 64, 80, 96, 112, 128, 160, 256}) {
    BOOST_TEST(head_dims.contains(dim), dim);
  }
  // And others: shapes_test has all of them.
  for (const int dim : head_dims) BOOST_TEST((dim % 8 == 0 && dim <= 256), dim);
  BOOST_TEST(head_dims.size() > 15u);
  BOOST_TEST(groups == (std::set<int>{1, 2, 3, 5, 7, 8}), boost::test_tools::per_element());
  BOOST_TEST(narrow_windows > 5);
  for (const int count : {causal, window, ragged, documents, grouped, offset, ssmax}) {
    BOOST_TEST(count > 10);
    BOOST_TEST(count < 190);
  }
}

BOOST_AUTO_TEST_CASE(outputs_that_are_not_written_fail) {
  BOOST_TEST((check("writes_nothing", 5).outcome == Outcome::fail));
}

BOOST_AUTO_TEST_CASE(writes_beside_an_output_are_found_and_named) {
  const auto before = check("writes_before_o", 5);
  BOOST_REQUIRE(before.counterexample.has_value());
  BOOST_TEST(before.counterexample->judgement.failure.find("outside o: first at byte -4") !=
             std::string::npos);
  const auto after = check("writes_after_lse", 5);
  BOOST_REQUIRE(after.counterexample.has_value());
  BOOST_TEST(after.counterexample->judgement.failure.find("outside lse") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_kernel_that_gives_up_fails_with_its_own_words) {
  const auto result = check("gives_up", 5);
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->judgement.failure ==
             "the kernel returned 7: no room for the bias matrix");
}

BOOST_AUTO_TEST_CASE(a_message_of_several_lines_is_one_line_of_the_report) {
  const auto end = kernel_process::error_end(3, "bad\nmine forward alibi fp32: pass");
  BOOST_TEST(end.failure == "the kernel returned 3: bad\\nmine forward alibi fp32: pass");
  BOOST_TEST(kernel_process::error_end(3, "").failure == "the kernel returned 3 without a message");
}

BOOST_AUTO_TEST_CASE(a_kernel_that_throws_fails_with_the_words_of_its_exception) {
  const auto result = check("throws_on_the_second_call", 5);
  BOOST_TEST((result.outcome == Outcome::fail));
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->judgement.failure.find("thrown by the test kernel") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_error_of_the_check_itself_is_no_pass) {
  const auto throw_error = [](int) { throw std::logic_error("an error of ours"); };
  BOOST_CHECK_THROW(verdict::check_cell(kernel("right"), cases::Pass::forward, PLUMBLINE_NOPE,
                                        Format::fp32, 5, 3, 2, throw_error),
                    std::logic_error);
}

BOOST_AUTO_TEST_CASE(a_kernel_that_writes_to_its_inputs_fails) {
  const auto result = check("changes_its_inputs", 5);
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->judgement.failure == "the kernel changed its input q");
}

BOOST_AUTO_TEST_CASE(a_kernel_that_says_it_is_deterministic_must_give_the_same_bits_twice) {
  const auto result = check("differs_from_run_to_run");
  BOOST_TEST((result.outcome == Outcome::fail));
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->judgement.failure.find("two runs differ: lse, element 0") !=
             std::string::npos);
  BOOST_TEST((check("may_differ_from_run_to_run").outcome == Outcome::pass));
}

BOOST_AUTO_TEST_CASE(who_fails_now_and_then_is_not_told_as_who_is_always_wrong) {
  const auto result = check("wrong_now_and_then");
  BOOST_TEST((result.outcome == Outcome::fail));
  BOOST_REQUIRE(result.counterexample.has_value());
  const auto& judgement = result.counterexample->judgement;
  BOOST_TEST(judgement.kind == "nondeterministic");
  BOOST_TEST((judgement.remark == "another run of this case, on the same inputs, passed" ||
              judgement.failure.starts_with("two runs differ: o, element 0")));
}

BOOST_AUTO_TEST_CASE(what_is_kept_from_one_call_for_the_next_is_found_and_told) {
  // Of a shape that neither kernel has run; another seed has no run before it.
  cases::Spec spec;
  spec.queries = spec.keys = 37;
  for (const auto& [name, words] : {std::pair{"keeps_what_it_gave", "gives, bit by bit, what it"},
                                    {"keeps_an_lse", "of several runs of the same shape"}}) {
    BOOST_TEST_CONTEXT(name) {
      spec.seed = 9;
      const auto result = verdict::check_spec(kernel(name), spec, 2);
      BOOST_TEST((result.outcome == Outcome::fail));
      BOOST_REQUIRE(result.counterexample.has_value());
      const auto& told = result.counterexample->separates;
      BOOST_REQUIRE(told.size() == 1u);
      BOOST_TEST(told.front().starts_with(words), told.front());
      spec.seed = 10;
      BOOST_TEST((verdict::check_spec(kernel(name), spec, 2).outcome == Outcome::pass));
    }
  }
  spec.seed = 9;
  spec.head_dim = 128;
  const auto wrong = verdict::check_spec(kernel("wrong_for_head_dim_128_only"), spec, 2);
  BOOST_REQUIRE(wrong.counterexample.has_value());
  BOOST_TEST(wrong.counterexample->separates.empty());
}

BOOST_AUTO_TEST_CASE(a_case_that_no_memory_holds_is_refused_with_what_it_needs) {
  cases::Spec spec;
  spec.heads = spec.kv_heads = 64;
  spec.keys = 1 << 23;
  spec.head_dim = 256;
  BOOST_CHECK_EXCEPTION(
      verdict::check_spec(kernel("right"), spec, 1), OutOfMemory, [](const OutOfMemory& error) {
        // k and v of 2^6 2^23 2^8 = 2^37 numbers each, 5 bytes a number.
        const std::string said = error.what();
        BOOST_TEST(said.starts_with("the arrays of case 'pass=forward"), said);
        return said.find(" need at least 1280.0 GiB of memory, and ") != std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(where_no_sum_has_a_bound_the_number_of_keys_is_named) {
  verdict::Draws draws;
  draws.shapes.keys = {1 << 24};
  BOOST_CHECK_EXCEPTION(
      verdict::check_cell(
          kernel("right"), cases::Pass::forward, PLUMBLINE_NOPE, Format::fp32, 3, 1, 1, [](int) {},
          {}, draws),
      BadInput, [](const BadInput& error) {
        return error.what() ==
               std::string(
                   "keys is 16777216 or more in every case; expected fewer: a sum of so "
                   "many terms has no bound where unit_roundoff is 5.960464477539063e-08");
      });
}

BOOST_AUTO_TEST_CASE(no_contract_is_named_that_other_cases_refute) {
  for (int seed = 6; seed > 6 - test::cases(1, 6); --seed) {
    const auto result = verdict::check_cell(kernel("lse_too_large"), cases::Pass::forward,
                                            PLUMBLINE_NOPE, Format::fp32, 100, seed, 2, [](int) {});
    BOOST_TEST((result.outcome == Outcome::fail));
    BOOST_REQUIRE(result.counterexample.has_value());
    const auto& nearest = result.counterexample->judgement.nearest_contract;
    BOOST_TEST(!nearest.has_value(), nearest.value_or(verdict::Match{}).text);
  }
}

BOOST_AUTO_TEST_CASE(a_kernel_for_few_shapes_is_judged_on_those) {
  const auto result = check("wrong_for_head_dim_128_only", 20);
  BOOST_TEST(result.supported);
  BOOST_TEST((result.outcome == Outcome::fail));
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->spec.head_dim == 128);
}

BOOST_AUTO_TEST_CASE(what_all_failing_and_no_passing_cases_have_is_said) {
  // Of some seeds the first cases fail, and there are too few that pass.
  verdict::VerifyReport report;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    auto cell = verdict::check_cell(kernel("wrong_for_head_dim_80"), cases::Pass::forward,
                                    PLUMBLINE_NOPE, Format::fp32, 60, seed, 2, [](int) {});
    BOOST_REQUIRE(cell.counterexample.has_value());
    if (!cell.counterexample->separates.empty()) report.cells.push_back(cell);
  }
  BOOST_REQUIRE(report.cells.size() >= 2u);
  for (const auto& cell : report.cells) {
    const auto& separates = cell.counterexample->separates;
    BOOST_TEST_MESSAGE(separates[0]);
    BOOST_TEST(separates.size() == 1u);
    BOOST_TEST(separates[0].find(" cases with head_dim = 80 and in none of ") != std::string::npos);
  }
  const auto& separates = report.cells[0].counterexample->separates;
  BOOST_TEST(verdict::describe_failure(report, report.cells[0]).find("  fails in all ") !=
             std::string::npos);
  BOOST_TEST(verdict::to_json(report)["cells"][0]["counterexample"]["separates"][0] ==
             separates[0]);
  // Wrong from the first case on: there is nothing to compare with.
  BOOST_TEST(check("gives_up", 60).counterexample->separates.empty());
}

BOOST_AUTO_TEST_CASE(a_property_separates_cases_only_by_an_experiment_and_beyond_chance) {
  const auto said = [](int failing, int passing, const auto& change) {
    cases::Spec found = cases::from_line("bias=nope,keys=3,queries=3,head_dim=80");
    std::vector<verdict::Trial> trials;
    for (int n = 0; n < failing; ++n) {
      trials.push_back({found, true});
      trials.back().spec.seed = n;
    }
    for (int n = 0; n < passing; ++n) {
      trials.push_back({found, false});
      trials.back().spec.head_dim = 32;
      trials.back().spec.seed = n;
    }
    change(trials);
    return verdict::separating_properties(trials, found);
  };
  const auto nothing = [](auto&) {};
  const std::vector<std::string> both{
      "fails in all 3 cases with head_dim = 80 and in none of 17 others"};
  BOOST_TEST(said(3, 17, nothing) == both, boost::test_tools::per_element());
  BOOST_TEST(said(3, 16, nothing).empty());  // 969 ways to divide them
  BOOST_TEST(said(2, 5, nothing).empty());
  // One that passes with it, or fails without.
  BOOST_TEST(said(6, 40, [](auto& trials) { trials.back().spec.head_dim = 80; }).empty());
  BOOST_TEST(said(6, 40, [](auto& trials) { trials.front().spec.head_dim = 64; }).empty());
  // No two cases that differ in it alone.
  BOOST_TEST(said(6, 40, [](auto& trials) {
               for (auto& trial : trials) trial.spec.seed += 100 * !trial.fails;
             }).empty());
  // The same case many times is one.
  BOOST_TEST(said(6, 40, [](auto& trials) {
               for (auto& trial : trials) trial.spec.seed = 0;
             }).empty());
}

BOOST_AUTO_TEST_CASE(a_lost_device_is_reported_at_the_case_that_lost_it) {
  const auto result = check("loses_the_device", 5);
  BOOST_TEST((result.outcome == Outcome::fail));
  BOOST_TEST(result.cases == 1);
  BOOST_REQUIRE(result.counterexample.has_value());
  BOOST_TEST(result.counterexample->judgement.device_lost);
}

BOOST_AUTO_TEST_CASE(alibi_is_drawn_with_slopes_that_are_no_powers_of_two_and_with_long_contexts) {
  int no_powers_of_two = 0, several_chunks = 0;
  for (const auto& spec :
       verdict::draw_specs(cases::Pass::forward, PLUMBLINE_ALIBI, Format::bf16, 200, 1)) {
    no_powers_of_two += !std::has_single_bit(static_cast<unsigned>(spec.heads));
    several_chunks += spec.keys > 512;
  }
  BOOST_TEST(no_powers_of_two > 30);
  BOOST_TEST(several_chunks > 2);
}

BOOST_AUTO_TEST_CASE(a_supports_that_answers_neither_yes_nor_no_is_named_with_what_it_was_asked) {
  const auto words_of = [](const std::string& name) {
    try {
      check(name, 5);
    } catch (const BadInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto nonsense = words_of("supports_forty_two");
  BOOST_TEST(
      nonsense.starts_with("supports_forty_two: supports is 42 for 'pass=forward,bias=nope"));
  BOOST_TEST(words_of("supports_throws").find("an exception: thrown by the test kernel") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_contract_out_of_range_is_named_with_its_kernel_and_format) {
  const auto declared = kernel("declares_tf32_products_in_fp32");
  BOOST_CHECK_EXCEPTION(
      verdict::check_cell(declared, cases::Pass::forward, PLUMBLINE_NOPE, Format::fp32, 5, 3, 2,
                          [](int) {}),
      BadInput, [](const BadInput& error) {
        return std::string(error.what())
            .starts_with("kernel declares_tf32_products_in_fp32, fp32: contract.operand_roundoff");
      });
}

BOOST_AUTO_TEST_CASE(an_output_that_no_case_says_anything_of_is_named_and_does_not_read_as_a_pass) {
  verdict::VerifyReport report;
  verdict::CellResult cell;
  cell.kernel = "mine";
  cell.cases = 3;
  cell.outputs["o"] = {.worst = 0.5, .elements = 100, .nonzero = 100, .blind = 99};
  cell.outputs["grad_p"] = {.worst = 0.1, .elements = 4, .nonzero = 4, .blind = 4};
  cell.outputs["grad_a"] = {.worst = 0.0, .elements = 4, .nonzero = 0, .blind = 0};
  report.cells = {cell};
  report.not_offered = {"decode", "backward fox tf32"};
  BOOST_TEST(cell.blind_outputs() == std::vector<std::string>{"grad_p"},
             boost::test_tools::per_element());
  const auto table = verdict::to_table(report);
  BOOST_TEST(table.find("pass, 1 output unresolved") != std::string::npos);
  BOOST_TEST(table.find("mine forward nope fp32: grad_p") != std::string::npos);
  BOOST_TEST(table.find("because no kernel supports it: decode, backward fox tf32") !=
             std::string::npos);
  const auto json = verdict::to_json(report);
  BOOST_TEST(json["cells"][0]["not_seen"] == nlohmann::json({"grad_p"}));
  BOOST_TEST(json["not_offered"].size() == 2u);
  BOOST_TEST(verdict::to_junit(report).find("\nunresolved: grad_p</system-out>") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_pass_shows_its_cases_what_was_declined_and_what_its_contract_lets_through) {
  verdict::VerifyReport report;
  report.cells = {check("right", 30)};
  auto& cell = report.cells.front();
  cell.contract.exp_error = 0x1p-16;
  cell.declined = {"windows"};
  BOOST_TEST(cell.cover.cases.at("keys").size() > 5u);
  for (const std::string& text :
       {verdict::to_table(report), verdict::to_junit(report), verdict::to_sarif(report).dump()}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(text.find("head_dim ") != std::string::npos);
      BOOST_TEST(text.find("windows") != std::string::npos);
      BOOST_TEST(text.find("exp_error = 2^-16 (default 2^-20) lets through errors of exponentials "
                           "up to 2^-16") != std::string::npos);
    }
  }
  cell.outputs["lse"].nonzero = cell.outputs["lse"].blind = 1;
  BOOST_TEST(verdict::to_sarif(report)["runs"][0]["properties"]["checked"][0]["not_seen"] ==
             nlohmann::json({"lse"}));
  const auto json = verdict::to_json(report)["cells"][0];
  BOOST_TEST(json["cover"]["causal"]["1"].get<int>() > 0);
  BOOST_TEST(json["declined"] == nlohmann::json({"windows"}));
  BOOST_TEST(json["contract_lets_through"].contains("exp_error"));
  // A field that is stricter than the default lets nothing through.
  cell.contract.exp_error = 0x1p-21;
  BOOST_TEST(verdict::to_table(report).find("contract of") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(much_that_is_not_offered_is_counted_and_json_has_it_all) {
  verdict::VerifyReport report;
  report.not_offered = {"e4m3",
                        "decode",
                        "forward fire",
                        "forward t5",
                        "backward t5",
                        "backward fox tf32",
                        "backward fox bf16"};
  const auto table = verdict::to_table(report);
  BOOST_TEST(
      table.find("because no kernel supports it: e4m3, decode, 1 bias of backward, 2 biases of "
                 "forward, 2 pairs of bias and format of backward (the JSON and HTML reports list "
                 "them)\n") != std::string::npos);
  BOOST_TEST(verdict::to_json(report)["not_offered"].size() == 7u);
}

BOOST_AUTO_TEST_CASE(of_many_files_that_a_kernel_opened_a_few_are_named_python_s_own_last) {
  verdict::Judgement judgement;
  for (int n = 0; n < 34; ++n)
    judgement.opened_files.push_back("/usr/lib/" + std::to_string(n) + ".pyc");
  judgement.opened_files.push_back("/tmp/table");
  const auto text = verdict::describe(judgement);
  BOOST_TEST(text ==
             "  the kernel opened \"/tmp/table\" while it ran\n"
             "  the kernel opened \"/usr/lib/0.pyc\" while it ran\n"
             "  the kernel opened \"/usr/lib/1.pyc\" while it ran\n"
             "  and 32 files more, which the JSON report lists\n");
  BOOST_TEST(verdict::to_json(judgement)["opened_files"].size() == 35u);
  judgement.opened_files.resize(4);
  BOOST_TEST(verdict::describe(judgement).find("more") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(queries_of_ragged_caches_often_stand_where_a_sequence_has_keys) {
  std::set<int> page_sizes;
  int ragged = 0, seen = 0;
  for (const auto& spec :
       verdict::draw_specs(cases::Pass::decode, PLUMBLINE_ALIBI, Format::fp32, 900, 1)) {
    page_sizes.insert(spec.page_size);
    if (!spec.mask.ragged || spec.keys < 2) continue;
    ++ragged;
    const auto lengths = cases::generate(spec).lengths;
    seen += *std::max_element(lengths.begin(), lengths.end()) > spec.query_offset;
  }
  BOOST_TEST(page_sizes == (std::set<int>{0, 1, 16, 32, 48, 64}), boost::test_tools::per_element());
  BOOST_TEST(ragged > 120);
  BOOST_TEST(9 * seen > 4 * ragged);  // always at the end of the cache, it would be a third
}

BOOST_AUTO_TEST_CASE(a_bias_that_a_kernel_does_not_offer_is_neither_pass_nor_fail) {
  const auto result = verdict::check_cell(kernel("right"), cases::Pass::forward, PLUMBLINE_ALIBI,
                                          Format::fp32, 5, 1, 1, [](int) {});
  BOOST_TEST(!result.supported);
  BOOST_TEST(result.cases == 0);
}

BOOST_AUTO_TEST_CASE(files_that_are_no_kernel_library_are_named_with_what_was_expected) {
  BOOST_TEST(message_of("no_such_library.so").find("no_such_library.so") != std::string::npos);
  const auto text_file = std::filesystem::temp_directory_path() / "plumbline_not_a_library.so";
  std::ofstream(text_file) << "not a library";
  BOOST_TEST(message_of(text_file).find("a loadable shared library") != std::string::npos);
  std::filesystem::remove(text_file);
}

BOOST_AUTO_TEST_CASE(the_report_holds_the_verdict_the_case_and_the_repro_line) {
  verdict::VerifyReport report;
  report.library = "test kernels";
  report.device = "CPU <&>";
  report.kernel_option = "--kernel ./mine.so";
  report.cells = {check("right", 5), check("gives_up", 5)};
  BOOST_TEST((report.outcome() == Outcome::fail));
  const auto json = verdict::to_json(report);
  BOOST_TEST(json["outcome"] == "FAIL");
  BOOST_TEST(json["cells"][0]["outcome"] == "pass");
  const std::string repeat = json["cells"][1]["counterexample"]["repeat"];
  BOOST_TEST(repeat.starts_with(
      "./plumbline verify --kernel ./mine.so --kernels gives_up --case 'pass=forward,bias="));
  const auto junit = verdict::to_junit(report);
  BOOST_TEST(junit.find("<testsuite name=\"gives_up\" tests=\"1\" failures=\"1\"") !=
             std::string::npos);
  BOOST_TEST(junit.find("no room for the bias matrix") != std::string::npos);
  BOOST_TEST(verdict::to_table(report).find("FAIL") != std::string::npos);
  BOOST_TEST(escaped_markup("a<b>&\"\x01") == "a&lt;b&gt;&amp;&quot;\\x01");
}

BOOST_AUTO_TEST_SUITE_END()
