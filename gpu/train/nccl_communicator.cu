// SPDX-License-Identifier: Apache-2.0
#include "train/nccl_communicator.hpp"

#include <nccl.h>

#include <stdexcept>
#include <string>

#include "core/launch.cuh"

namespace plumbline::gpu {

namespace {

void expect(ncclResult_t result) {
  if (result != ncclSuccess)
    throw std::runtime_error(std::string("NCCL: ") + ncclGetErrorString(result) + "; " +
                             ncclGetLastError(nullptr));
}

class NcclCommunicator : public Communicator {
 public:
  explicit NcclCommunicator(Communicator& host) : host_(host) {
    ncclUniqueId id{};
    if (host.rank() == 0) expect(ncclGetUniqueId(&id));
    host.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    expect(ncclCommInitRank(&ranks_, host.size(), id, host.rank()));
  }
  // Aborted, not destroyed: that waits for no rank, should one have failed.
  ~NcclCommunicator() override { ncclCommAbort(ranks_); }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  int rank() const override { return host_.rank(); }
  int size() const override { return host_.size(); }
  void sum(std::span<double> numbers) override { host_.sum(numbers); }
  void broadcast(std::span<std::byte> bytes, int from) override { host_.broadcast(bytes, from); }

  void send(const float* device, std::size_t count, int to) override {
    expect(ncclSend(device, count, ncclFloat32, to, ranks_, stream_.get()));
    stream_.wait();
  }
  void receive(float* device, std::size_t count, int from) override {
    expect(ncclRecv(device, count, ncclFloat32, from, ranks_, stream_.get()));
    stream_.wait();
  }
  void broadcast(float* device, std::size_t count, int from) override {
    expect(ncclBroadcast(device, device, count, ncclFloat32, from, ranks_, stream_.get()));
    stream_.wait();
  }

 private:
  Communicator& host_;
  Stream stream_;
  ncclComm_t ranks_ = nullptr;
};

}  // namespace

std::unique_ptr<Communicator> nccl_communicator(Communicator& host) {
  return std::make_unique<NcclCommunicator>(host);
}

}  // namespace plumbline::gpu
