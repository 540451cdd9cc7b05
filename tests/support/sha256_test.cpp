// SPDX-License-Identifier: Apache-2.0
// Expected digests: the examples of FIPS 180-4 that NIST publishes.
#include "support/sha256.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(sha256_test)

using plumbline::Sha256;
using plumbline::sha256;

BOOST_AUTO_TEST_CASE(the_digests_are_those_that_nist_prints) {
  BOOST_TEST(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  BOOST_TEST(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  BOOST_TEST(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
             "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

BOOST_AUTO_TEST_CASE(pieces_have_the_digest_of_the_whole) {
  Sha256 sum;
  for (const std::string_view piece : {"a", "", "bc"}) sum.add(std::as_bytes(std::span(piece)));
  BOOST_TEST(sum.digest() == sha256("abc"));
}

BOOST_AUTO_TEST_SUITE_END()
