// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/device_says.hpp"

#include <sys/socket.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "verdict/process/protocol.hpp"

namespace plumbline::kernel_process {
namespace {

const DeviceArrays* known_arrays = nullptr;
std::atomic<std::uint64_t> request_number = 0;
Reply said;  // large; the device calls its listener for one trouble at a time

void say(const SoftwareDevice::Trouble& trouble) {
  const std::uint64_t number = request_number;
  if (said.number == number && trouble.text == said.text) return;  // of a call made again and again
  SoftwareDevice::Trouble located = trouble;
  if (known_arrays) known_arrays->locate(located);
  said.number = number;
  said.answer = answer_device_says;
  said.status = static_cast<std::int32_t>(trouble.kind);
  std::snprintf(said.text, sizeof said.text, "%s", trouble.text.c_str());
  said.array = located.array ? static_cast<std::int32_t>(*located.array) : -1;
  said.offset = located.offset;
  // Where the judge has yet to read what was said before, this is lost: it is no answer.
  send(host_socket, &said, sizeof said, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

void pass_on_what_it_says(const SoftwareDevice& device, const DeviceArrays* arrays) {
  known_arrays = arrays;
  device.listen(say);
}

void note_request(std::uint64_t number) { request_number = number; }

}  // namespace plumbline::kernel_process
