// SPDX-License-Identifier: Apache-2.0
// Text from outside, made fit for an error message.
#pragma once

#include <string>
#include <string_view>

namespace plumbline {

/// The text in double quotes, at most 60 characters of it, anything but printable ASCII as \xNN: an
/// input file must not be able to write control sequences to a person's terminal.
std::string in_quotes(std::string_view text);

}  // namespace plumbline
