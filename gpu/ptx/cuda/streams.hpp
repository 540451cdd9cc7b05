// SPDX-License-Identifier: Apache-2.0
// Streams, events and graphs. What is submitted to a stream is done at once; with Variation::late
// when the host waits for it; or, while the stream is captured, kept as a node of a graph.
#ifndef PLUMBLINE_GPU_PTX_CUDA_STREAMS_HPP
#define PLUMBLINE_GPU_PTX_CUDA_STREAMS_HPP

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "ptx/cuda/abi.hpp"
#include "ptx/cuda/handles.hpp"

namespace plumbline::ptx::cuda {

class Process;
struct Context;

/// A function of the host, which is called without the lock of the process.
struct HostCall {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};

struct Node {
  NodeType type = NodeType::empty;
  std::function<void(Process&)> work;  ///< null: the host's function
  HostCall host;
};

/// In an order in which they may run.
struct Graph {
  std::vector<std::shared_ptr<const Node>> nodes;
};

/// A graph that can be launched: it keeps the nodes that it was made from.
struct GraphExec : Graph {};

/// Nodes of a capture that a stream or an event comes after.
struct Capture;
struct CapturePoint {
  std::shared_ptr<Capture> capture;  ///< null: none
  std::set<std::size_t> after;
};

struct Capture {
  Graph graph;
  const Stream* origin = nullptr;
  CaptureMode mode = CaptureMode::global;
  std::thread::id thread;
  bool invalid = false;
  std::uint64_t number = 0;
};

struct Stream {
  const Context* context = nullptr;
  unsigned flags = 0;  ///< 1: it does not wait for the default stream
  int priority = 0;
  std::uint64_t number = 0;
  CapturePoint point = {};
  std::deque<std::function<void(Process&)>> late = {};  ///< what is still to be done
  std::uint64_t done = 0;                               ///< of what came to `late`
};

/// All that was submitted to a stream up to some point.
struct StreamPoint {
  std::uint64_t stream = 0;  ///< Stream::number; 0: the default stream
  std::uint64_t count = 0;
  bool operator==(const StreamPoint&) const = default;
};

struct Event {
  const Context* context = nullptr;
  unsigned flags = 0;
  std::optional<std::chrono::steady_clock::time_point> recorded = {};
  CapturePoint point = {};
  StreamPoint after = {};
};

class Streams {
 public:
  explicit Streams(Process& process) : process_(process) {}

  Stream& add(const Context* context, unsigned flags, int priority);
  /// One that was made, or a default one: null, cudaStreamLegacy or cudaStreamPerThread. Throws
  /// Failure for others.
  Stream& of(const Stream* handle);
  void remove(const Stream* handle);
  void clear(const Context& context);

  Handles<Event> events;
  Handles<Graph> graphs;
  Handles<GraphExec> execs;

  /// Runs the work, or keeps it. Throws what the work throws, and Failure where CUDA's rules of
  /// capture forbid it.
  void submit(const Stream* handle, NodeType type, std::function<void(Process&)> work);
  /// As submit(), but true where the caller is to call the function when it has left guarded().
  bool submit(const Stream* handle, HostCall call);

  /// Does what is still to be done: of all streams, of one, and what an event comes after.
  void catch_up();
  void catch_up(const Stream* handle);
  void catch_up(const Event& event) { catch_up(event.after); }

  /// cudaEventElapsedTime. Throws Failure for events that were not recorded.
  float milliseconds(const Event* from, const Event* to);
  void record(Event& event, const Stream* handle);
  void wait(const Stream* handle, const Event& event);
  /// Of what waits for a stream or an event on the host. A capture must not be waited for.
  void expect_not_captured(const CapturePoint& point);
  /// Of calls that CUDA forbids while a stream is being captured, cudaMalloc among them.
  void expect_no_capture();

  void begin_capture(const Stream* handle, CaptureMode mode);
  Graph& end_capture(const Stream* handle);
  GraphExec& instantiate(const Graph* graph);
  /// As cudaGraphGetNodes: without `nodes` it tells how many there are.
  void nodes(const Graph* graph, const Node** nodes, std::size_t* count);
  NodeType type_of(const Node* node);
  CaptureStatus status(const Stream* handle);
  /// Of this thread. Gives the one before.
  CaptureMode exchange_mode(CaptureMode mode);

 private:
  void append(Stream& stream, Node node);
  bool is_late();
  Stream& order_of(Stream& stream);
  void catch_up(const StreamPoint& point);
  void do_late(Stream& order, std::uint64_t count);
  [[noreturn]] void invalidate(Capture& capture, Error error);

  Process& process_;
  Handles<Stream> all_;
  Stream legacy_, per_thread_{.flags = 1};
  std::uint64_t next_number_ = 1;
};

/// cudaGraphLaunch: a node after the other, each in guarded() or, of the host, outside of it.
Error launch_graph(const GraphExec* exec, const Stream* stream);

}  // namespace plumbline::ptx::cuda

#endif
