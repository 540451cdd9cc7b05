// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace plumbline::golden {

/// SHA-256 (FIPS 180-4) of the bytes, 64 lower-case hexadecimal digits. By OpenSSL's libcrypto.
std::string sha256(std::string_view bytes);

}  // namespace plumbline::golden
