// SPDX-License-Identifier: Apache-2.0
#include "golden/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <stdexcept>

namespace plumbline::golden {

std::string sha256(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("libcrypto cannot compute SHA-256");
  }
  return fmt::format("{:02x}", fmt::join(digest, digest + size, ""));
}

}  // namespace plumbline::golden
