// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), by OpenSSL's libcrypto.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace plumbline {

/// The digest of bytes that come piece by piece.
class Sha256 {
 public:
  /// @throws std::runtime_error, here and below, when libcrypto cannot compute it.
  Sha256();
  void add(std::span<const std::byte>);
  /// Of all bytes so far, 64 lower-case hexadecimal digits. Nothing may be added afterwards.
  std::string digest();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;  ///< EVP_MD_CTX
};

/// The digest of these bytes.
std::string sha256(std::string_view bytes);

}  // namespace plumbline
