// SPDX-License-Identifier: Apache-2.0
// Graphs that are made by capturing a stream. Nodes cannot be added or changed one by one.
#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::run;

PLUMBLINE_CUDA Error cuStreamBeginCapture_v2(Stream* stream, CaptureMode mode) {
  return run([&](Process& process) { process.streams.begin_capture(stream, mode); });
}

PLUMBLINE_CUDA Error cuStreamEndCapture(Stream* stream, Graph** graph) {
  return run([&](Process& process) {
    expect(graph != nullptr);
    *graph = nullptr;
    *graph = &process.streams.end_capture(stream);
  });
}

PLUMBLINE_CUDA Error cuStreamIsCapturing(Stream* stream, CaptureStatus* status) {
  return run([&](Process& process) {
    expect(status != nullptr);
    *status = process.streams.status(stream);
  });
}

PLUMBLINE_CUDA Error cuThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  return run([&](Process& process) {
    expect(mode != nullptr);
    *mode = process.streams.exchange_mode(*mode);
  });
}

PLUMBLINE_CUDA Error cuGraphInstantiateWithFlags(GraphExec** exec, Graph* graph,
                                                 unsigned long long) {
  return run([&](Process& process) {
    expect(exec != nullptr);
    *exec = &process.streams.instantiate(graph);
  });
}

/// There is nothing to bring anywhere.
PLUMBLINE_CUDA Error cuGraphUpload(GraphExec* exec, Stream* stream) {
  return run([&](Process& process) {
    process.streams.execs.of(exec, Error::invalid_value);
    process.streams.of(stream);
  });
}

PLUMBLINE_CUDA Error cuGraphLaunch(GraphExec* exec, Stream* stream) {
  const Error error = run([](Process&) {});
  return error == Error::success ? cuda_driver::driver_error(launch_graph(exec, stream)) : error;
}

PLUMBLINE_CUDA Error cuGraphExecDestroy(GraphExec* exec) {
  return run([&](Process& process) { process.streams.execs.remove(exec, Error::invalid_value); });
}

PLUMBLINE_CUDA Error cuGraphDestroy(Graph* graph) {
  return run([&](Process& process) { process.streams.graphs.remove(graph, Error::invalid_value); });
}

PLUMBLINE_CUDA Error cuGraphGetNodes(Graph* graph, const Node** nodes, std::size_t* count) {
  return run([&](Process& process) { process.streams.nodes(graph, nodes, count); });
}

PLUMBLINE_CUDA Error cuGraphNodeGetType(const Node* node, NodeType* type) {
  return run([&](Process& process) {
    expect(type != nullptr);
    *type = process.streams.type_of(node);
  });
}
