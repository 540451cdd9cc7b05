// SPDX-License-Identifier: Apache-2.0
// In place of Boost.Test: the test cases are collected, and what they check besides adjoints
// (tests/reference/readings.hpp beside this) is left out, so that it takes no time to compile.
#pragma once

#include <vector>

namespace plumbline::adjoint_mutants {

struct TestCase {
  const char* file;
  const char* name;
  void (*run)();
};

inline std::vector<TestCase>& test_cases() {
  static std::vector<TestCase> cases;
  return cases;
}

struct Collect {
  explicit Collect(const TestCase& test) { test_cases().push_back(test); }
};

}  // namespace plumbline::adjoint_mutants

#define BOOST_AUTO_TEST_CASE(name, ...)                                                            \
  static void case_##name();                                                                       \
  static const plumbline::adjoint_mutants::Collect collect_##name({__FILE__, #name, case_##name}); \
  static void case_##name()

#define BOOST_AUTO_TEST_SUITE(name, ...) namespace name {
#define BOOST_AUTO_TEST_SUITE_END() }
#define BOOST_TEST_CONTEXT(...)
#define BOOST_TEST(...) static_cast<void>(0)
#define BOOST_TEST_REQUIRE(...) static_cast<void>(0)
#define BOOST_TEST_MESSAGE(...) static_cast<void>(0)
#define BOOST_REQUIRE(...) static_cast<void>(0)
#define BOOST_CHECK_THROW(...) static_cast<void>(0)
#define BOOST_CHECK_NO_THROW(...) static_cast<void>(0)
#define BOOST_CHECK_EXCEPTION(...) static_cast<void>(0)
