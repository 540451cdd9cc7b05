// SPDX-License-Identifier: Apache-2.0
#include "support/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <stdexcept>

namespace plumbline {
namespace {

EVP_MD_CTX* as_context(void* context) { return static_cast<EVP_MD_CTX*>(context); }

void require(int done) {
  if (done != 1) throw std::runtime_error("libcrypto cannot compute SHA-256");
}

}  // namespace

void Sha256::Free::operator()(void* context) const { EVP_MD_CTX_free(as_context(context)); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require(context_ ? EVP_DigestInit_ex(as_context(context_.get()), EVP_sha256(), nullptr) : 0);
}

void Sha256::add(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(as_context(context_.get()), bytes.data(), bytes.size()));
}

std::string Sha256::digest() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  require(EVP_DigestFinal_ex(as_context(context_.get()), digest, &size));
  return fmt::format("{:02x}", fmt::join(digest, digest + size, ""));
}

std::string sha256(std::string_view bytes) {
  Sha256 sum;
  sum.add(std::as_bytes(std::span(bytes)));
  return sum.digest();
}

}  // namespace plumbline
