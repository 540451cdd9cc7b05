// SPDX-License-Identifier: Apache-2.0
// The order in which gradients of parts are added, and who has which part.
#include "train/part_tree.hpp"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

BOOST_AUTO_TEST_SUITE(part_tree_test)

using namespace plumbline::gpu;

namespace {

/// The whole sum as an expression of the parts' numbers.
std::string expression(int parts) {
  std::map<int, std::string> sums;
  for (int part = 0; part < parts; ++part) sums[part] = std::to_string(part);
  for (const Addition& a : additions(parts)) {
    sums[a.begin] = "(" + sums.at(a.begin) + "+" + sums.at(a.middle) + ")";
    sums.erase(a.middle);
  }
  BOOST_TEST(sums.size() == 1U);
  return sums.at(0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(parts_are_added_along_a_binary_tree) {
  BOOST_TEST(expression(1) == "0");
  BOOST_TEST(expression(2) == "(0+1)");
  BOOST_TEST(expression(3) == "((0+1)+2)");
  BOOST_TEST(expression(5) == "(((0+1)+(2+3))+4)");
  BOOST_TEST(expression(7) == "(((0+1)+(2+3))+((4+5)+6))");
  BOOST_TEST(expression(8) == "(((0+1)+(2+3))+((4+5)+(6+7)))");
}

BOOST_AUTO_TEST_CASE(an_addition_tells_which_parts_it_sums) {
  for (const Addition& a : additions(11)) {
    BOOST_TEST(a.begin < a.middle);
    BOOST_TEST(a.middle < a.end);
    BOOST_TEST(a.end <= 11);
  }
  BOOST_TEST(additions(11).back().begin == 0);
  BOOST_TEST(additions(11).back().middle == 8);
  BOOST_TEST(additions(11).back().end == 11);
}

BOOST_AUTO_TEST_CASE(ranks_have_neighbouring_parts_as_many_as_any_other_or_one_more) {
  for (int parts = 1; parts <= 20; ++parts) {
    for (int ranks = 1; ranks <= parts; ++ranks) {
      int next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const PartRange own = parts_of(rank, ranks, parts);
        BOOST_TEST(own.begin == next);
        BOOST_TEST(own.size() >= parts / ranks);
        BOOST_TEST(own.size() <= (parts + ranks - 1) / ranks);
        for (int part = own.begin; part < own.end; ++part)
          BOOST_TEST(rank_of(part, ranks, parts) == rank);
        next = own.end;
      }
      BOOST_TEST(next == parts);
    }
  }
  BOOST_TEST(parts_of(2, 3, 2000000000).end == 2000000000);  // no overflow
}

BOOST_AUTO_TEST_SUITE_END()
