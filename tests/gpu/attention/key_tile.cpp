// SPDX-License-Identifier: Apache-2.0
#include "attention/key_tile.cuh"

#include <boost/test/unit_test.hpp>
#include <string>

BOOST_AUTO_TEST_SUITE(key_tile_test)

namespace {

using namespace plumbline::gpu;

BOOST_AUTO_TEST_CASE(the_shape_of_a_launch_remembers_the_kernel_that_asked_for_it) {
  Problem problem{};
  problem.batch = 3;
  problem.heads = 2;
  problem.queries = kTileQueries + 1;
  const LaunchShape shape = tile_launch(problem, 16);
  BOOST_TEST(shape.where.line() == __LINE__ - 1);
  BOOST_TEST(std::string(shape.where.file_name()).ends_with("attention/key_tile.cpp"));
  BOOST_TEST(shape.grid.x == 2);
  BOOST_TEST(shape.grid.y == 2);
  BOOST_TEST(shape.grid.z == 3);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
