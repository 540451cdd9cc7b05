// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/streams.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "ptx/cuda/process.hpp"

namespace plumbline::ptx::cuda {
namespace {

constexpr unsigned non_blocking = 1;

CaptureMode& mode_of_thread() {
  static thread_local CaptureMode mode = CaptureMode::global;
  return mode;
}

}  // namespace

Stream& Streams::add(const Context* context, unsigned flags, int priority) {
  return all_.add({context, flags, priority, ++next_number_});
}

Stream& Streams::of(const Stream* handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number <= 1) return legacy_;
  if (number == 2) return per_thread_;
  return all_.of(handle);
}

void Streams::remove(const Stream* handle) {
  Stream& stream = all_.of(handle);
  if (stream.point.capture) stream.point.capture->invalid = true;
  catch_up(handle);
  all_.remove(handle);
}

void Streams::clear(const Context& context) {
  all_.remove_if([&](const Stream& stream) { return stream.context == &context; });
  events.remove_if([&](const Event& event) { return event.context == &context; });
}

void Streams::invalidate(Capture& capture, Error error) {
  capture.invalid = true;
  throw Failure{error};
}

void Streams::append(Stream& stream, Node node) {
  Capture& capture = *stream.point.capture;
  expect(!capture.invalid, Error::capture_invalidated);
  stream.point.after.insert(capture.graph.nodes.size());
  capture.graph.nodes.push_back(std::make_shared<const Node>(std::move(node)));
}

void Streams::submit(const Stream* handle, NodeType type, std::function<void(Process&)> work) {
  Stream& stream = of(handle);
  if (stream.point.capture) return append(stream, {type, std::move(work), {}});
  if (&stream == &legacy_) {  // it waits for every stream that does not say otherwise
    all_.for_each([&](const Stream& other) {
      if (other.point.capture && !(other.flags & non_blocking)) {
        invalidate(*other.point.capture, Error::capture_implicit);
      }
    });
  }
  Stream& order = order_of(stream);
  order.late.push_back(std::move(work));
  if (!is_late()) do_late(order, std::numeric_limits<std::uint64_t>::max());
}

bool Streams::is_late() { return process_.device().options().variation.late; }

/// A stream that does not say otherwise and the default stream wait for one another: they are one.
Stream& Streams::order_of(Stream& stream) {
  const bool own = (stream.flags & non_blocking) && &stream != &per_thread_;
  return own ? stream : legacy_;
}

void Streams::do_late(Stream& order, std::uint64_t count) {
  while (order.done < count && !order.late.empty()) {
    const auto work = std::move(order.late.front());
    order.late.pop_front();
    ++order.done;
    work(process_);
  }
}

void Streams::catch_up() {
  if (process_.sticky() != Error::success) return;
  constexpr auto all = std::numeric_limits<std::uint64_t>::max();
  std::exception_ptr first;  // of what failed: the rest is done nevertheless
  const auto do_all = [&](Stream& order) {
    while (!order.late.empty()) {
      try {
        do_late(order, all);
      } catch (const Fault&) {
        throw;
      } catch (...) {
        if (!first) first = std::current_exception();
      }
    }
  };
  do_all(legacy_);
  all_.for_each(do_all);
  if (first) std::rethrow_exception(first);
}

void Streams::catch_up(const Stream* handle) {
  do_late(order_of(of(handle)), std::numeric_limits<std::uint64_t>::max());
}

void Streams::catch_up(const StreamPoint& point) {
  if (point.stream == 0) return do_late(legacy_, point.count);
  all_.for_each([&](Stream& stream) {
    if (stream.number == point.stream) do_late(stream, point.count);
  });
}

bool Streams::submit(const Stream* handle, HostCall call) {
  expect(call.function != nullptr);
  Stream& stream = of(handle);
  if (!stream.point.capture) {
    catch_up(handle);
    return true;
  }
  append(stream, {NodeType::host, {}, call});
  return false;
}

void Streams::record(Event& event, const Stream* handle) {
  const Stream& stream = of(handle);
  if (stream.point.capture) {
    expect(!stream.point.capture->invalid, Error::capture_invalidated);
    event.point = stream.point;
  } else {
    event.point = {};
    event.recorded = std::chrono::steady_clock::now();
    if (!is_late()) return;
    Stream& order = order_of(of(handle));
    event.after = {order.number, order.done + order.late.size() + 1};
    order.late.push_back([&event, after = event.after](Process& here) {
      const bool is_it = here.streams.events.has(&event) && event.after == after;
      if (is_it) event.recorded = std::chrono::steady_clock::now();
    });
  }
}

float Streams::milliseconds(const Event* from, const Event* to) {
  constexpr unsigned no_timing = 2;
  const Event &first = events.of(from), &last = events.of(to);
  expect(first.recorded && last.recorded && !(first.flags & no_timing) && !(last.flags & no_timing),
         Error::invalid_resource_handle);
  return std::chrono::duration<float, std::milli>(*last.recorded - *first.recorded).count();
}

void Streams::wait(const Stream* handle, const Event& event) {
  Stream& stream = of(handle);
  const CapturePoint& point = event.point;
  CapturePoint& mine = stream.point;
  if (!point.capture) {
    if (mine.capture && event.recorded) invalidate(*mine.capture, Error::capture_isolation);
    if (is_late() && event.recorded) {
      order_of(stream).late.push_back(
          [after = event.after](Process& here) { here.streams.catch_up(after); });
    }
    return;
  }
  expect(!point.capture->invalid, Error::capture_invalidated);
  if (&stream == &legacy_) invalidate(*point.capture, Error::capture_implicit);
  if (mine.capture && mine.capture != point.capture) {
    mine.capture->invalid = true;
    invalidate(*point.capture, Error::capture_merge);
  }
  mine.capture = point.capture;
  mine.after.insert(point.after.begin(), point.after.end());
}

void Streams::expect_not_captured(const CapturePoint& point) {
  if (point.capture) invalidate(*point.capture, Error::capture_unsupported);
}

void Streams::expect_no_capture() {
  if (mode_of_thread() == CaptureMode::relaxed) return;
  const auto here = std::this_thread::get_id();
  all_.for_each([&](const Stream& stream) {
    if (!stream.point.capture) return;
    Capture& capture = *stream.point.capture;
    const bool mine = capture.thread == here && capture.mode != CaptureMode::relaxed;
    const bool others =
        capture.mode == CaptureMode::global && mode_of_thread() == CaptureMode::global;
    if (mine || others) invalidate(capture, Error::capture_unsupported);
  });
}

void Streams::begin_capture(const Stream* handle, CaptureMode mode) {
  expect(mode >= CaptureMode::global && mode <= CaptureMode::relaxed);
  Stream& stream = of(handle);
  // CUDA captures a thread's own default stream, too; this device has one for all threads.
  expect(&stream != &legacy_ && &stream != &per_thread_, Error::capture_unsupported);
  expect(!stream.point.capture, Error::invalid_value);
  auto capture = std::make_shared<Capture>();
  capture->origin = &stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->number = next_number_++;
  stream.point = {std::move(capture), {}};
}

Graph& Streams::end_capture(const Stream* handle) {
  Stream& stream = of(handle);
  const auto capture = stream.point.capture;
  expect(capture != nullptr, Error::invalid_value);
  expect(capture->origin == &stream, Error::capture_unmatched);
  expect(capture->mode == CaptureMode::relaxed || capture->thread == std::this_thread::get_id(),
         Error::capture_wrong_thread);
  const bool joined = stream.point.after.size() == capture->graph.nodes.size();
  all_.for_each([&](Stream& other) {
    if (other.point.capture == capture) other.point = {};
  });
  expect(!capture->invalid, Error::capture_invalidated);
  expect(joined, Error::capture_unjoined);
  return graphs.add(std::move(capture->graph));
}

GraphExec& Streams::instantiate(const Graph* graph) {
  return execs.add({graphs.of(graph, Error::invalid_value)});
}

void Streams::nodes(const Graph* graph, const Node** nodes, std::size_t* count) {
  expect(count != nullptr);
  const auto& all = graphs.of(graph, Error::invalid_value).nodes;
  if (nodes == nullptr) {
    *count = all.size();
    return;
  }
  for (std::size_t n = 0; n < *count; ++n) nodes[n] = n < all.size() ? all[n].get() : nullptr;
  *count = std::min(*count, all.size());
}

NodeType Streams::type_of(const Node* node) {
  const Node* found = nullptr;
  graphs.for_each([&](const Graph& graph) {
    for (const auto& known : graph.nodes) {
      if (known.get() == node) found = node;
    }
  });
  expect(found != nullptr);
  return found->type;
}

CaptureStatus Streams::status(const Stream* handle) {
  const Stream& stream = of(handle);
  if (!stream.point.capture) return CaptureStatus::none;
  return stream.point.capture->invalid ? CaptureStatus::invalidated : CaptureStatus::active;
}

CaptureMode Streams::exchange_mode(CaptureMode mode) {
  expect(mode >= CaptureMode::global && mode <= CaptureMode::relaxed);
  return std::exchange(mode_of_thread(), mode);
}

Error launch_graph(const GraphExec* exec, const Stream* stream) {
  std::vector<std::shared_ptr<const Node>> nodes;
  bool now = true;
  Error error = guarded([&](Process& process) {
    nodes = process.streams.execs.of(exec, Error::invalid_value).nodes;
    Stream& on = process.streams.of(stream);
    if (!on.point.capture) return process.streams.catch_up(stream);
    now = false;  // a graph within a graph: its nodes
    for (const auto& node : nodes) {
      if (node->work) process.streams.submit(stream, node->type, node->work);
      if (!node->work) process.streams.submit(stream, node->host);
    }
  });
  for (const auto& node : nodes) {
    if (!now || error != Error::success) break;
    if (node->work) error = guarded([&](Process& process) { node->work(process); });
    if (!node->work && node->host.function) node->host.function(node->host.data);
  }
  return error;
}

}  // namespace plumbline::ptx::cuda
