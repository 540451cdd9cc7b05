// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/ptx/conformance/row.hpp"

#include <fmt/format.h>

#include <memory>

#include "tests/gpu/ptx/conformance/cases.hpp"

namespace plumbline::ptx::conformance {
namespace {

Buffer packed(const std::vector<Bits>& values, Type type) {
  const std::size_t bytes = width(type) / 8;
  Buffer buffer(values.size() * bytes);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(buffer.data() + i * bytes, &values[i], bytes);
  return buffer;
}
Bits unpacked(const Buffer& buffer, Type type, std::size_t i) {
  Bits x = 0;
  std::memcpy(&x, buffer.data() + i * (width(type) / 8), width(type) / 8);
  return x;
}

/// Each instruction under the predicate of the lanes that take part.
std::string predicated(const Row& row) {
  std::string result;
  std::size_t at = 0;
  while (true) {
    const std::size_t end = row.text.find(';', at);
    if (end == std::string::npos) return result;
    std::size_t begin = row.text.find_first_not_of(" \n", at);
    const bool plain = row.whole_warps || row.text[begin] == '@' || row.text[begin] == '.';
    result += (plain ? "  " : "  @%on ") + row.text.substr(begin, end + 1 - begin) + "\n";
    at = end + 1;
  }
}

std::string kernel_text(const Row& row) {
  std::string text = row.module + ".visible .entry KERNEL(.param .u64 p_state";
  for (std::size_t k = 0; k < row.operands.size(); ++k)
    text += fmt::format(", .param .u64 p_a{}", k);
  for (std::size_t k = 0; k < row.results.size(); ++k)
    text += fmt::format(", .param .u64 p_d{}", k);
  text += ")\n{\n  .reg .pred %on, %gone, %p<8>;\n  .reg .b16 %h<8>;\n";
  text += "  .reg .b32 %thread, %base, %width, %state, %r<16>;\n";
  text += "  .reg .b64 %pointer, %offset, %l<8>;\n";
  for (std::size_t k = 0; k < row.operands.size(); ++k)
    text += fmt::format("  .reg {} %a{};\n", register_of(row.operands[k].type), k);
  for (std::size_t k = 0; k < row.results.size(); ++k)
    text += fmt::format("  .reg {} %d{};\n", register_of(row.results[k]), k);
  text += "  mov.u32 %base, %ctaid.x;\n  mov.u32 %width, %ntid.x;\n  mov.u32 %thread, %tid.x;\n";
  text += "  mad.lo.u32 %thread, %base, %width, %thread;\n";
  const auto address = [&](const std::string& parameter, int bytes) {
    return fmt::format(
        "  ld.param.u64 %pointer, [{}];\n  cvta.to.global.u64 %pointer, %pointer;\n"
        "  mul.wide.u32 %offset, %thread, {};\n  add.s64 %pointer, %pointer, %offset;\n",
        parameter, bytes);
  };
  text += address("p_state", 1) + "  ld.global.u8 %state, [%pointer];\n";
  for (std::size_t k = 0; k < row.operands.size(); ++k) {
    const int bits = width(row.operands[k].type);
    text += address(fmt::format("p_a{}", k), bits / 8) +
            fmt::format("  ld.global.b{} %a{}, [%pointer];\n", bits, k);
  }
  for (std::size_t k = 0; k < row.results.size(); ++k) {
    const int bits = width(row.results[k]);
    text += address(fmt::format("p_d{}", k), bits / 8) +
            fmt::format("  ld.global.b{} %d{}, [%pointer];\n", bits, k);
  }
  text += row.before;
  text += "  setp.eq.u32 %gone, %state, 2;\n  @%gone exit;\n  setp.eq.u32 %on, %state, 1;\n";
  text += predicated(row) + row.after;
  for (std::size_t k = 0; k < row.results.size(); ++k) {
    const int bits = width(row.results[k]);
    text += address(fmt::format("p_d{}", k), bits / 8) +
            fmt::format("  st.global.b{} [%pointer], %d{};\n", bits, k);
  }
  return text + "  ret;\n}\n";
}

bool same(const Row& row, Type type, Bits got, Bits expected) {
  if (got == expected) return true;
  if (row.compare == Compare::exact) return false;
  const Format& format = format_of(type);
  const bool pair = type == Type::f16x2 || type == Type::bf16x2;
  for (int half = 0; half < (pair ? 2 : 1); ++half) {
    const Bits x = pair ? low(got >> 16 * half, 16) : got;
    const Bits y = pair ? low(expected >> 16 * half, 16) : expected;
    if (x == y || (is_nan(format, x) && is_nan(format, y))) continue;
    if (row.compare == Compare::any_nan_zero && is_zero(format, x) && is_zero(format, y)) continue;
    return false;
  }
  return true;
}

std::string shown(Type type, Bits x) { return fmt::format("{:#0{}x}", x, 2 + width(type) / 4); }

std::string shown_operands(const Row& row, const Cases& cases, std::size_t i) {
  std::string text;
  for (std::size_t k = 0; k < row.operands.size(); ++k)
    text += (k ? ", " : "") + shown(row.operands[k].type, cases.a[k][i]);
  return fmt::format("{} (thread {})", text, i);
}

/// What each thread's results must be; those of threads that do nothing are the marker.
std::vector<std::vector<Bits>> expected_results(const Row& row, const Cases& cases) {
  const std::size_t threads = cases.states.size();
  std::vector<std::vector<Bits>> d(row.results.size());
  for (std::size_t k = 0; k < d.size(); ++k)
    d[k].assign(threads, low(marker, width(row.results[k])));
  std::vector<Bits> a(row.operands.size()), out(row.results.size());
  if (row.expect)
    for (std::size_t i = 0; i < threads; ++i) {
      if (cases.states[i] != active) continue;
      for (std::size_t k = 0; k < a.size(); ++k) a[k] = cases.a[k][i];
      row.expect(a.data(), out.data());
      for (std::size_t k = 0; k < out.size(); ++k) d[k][i] = low(out[k], width(row.results[k]));
    }
  if (row.expect_warp)
    for (std::size_t first = 0; first < threads; first += 32) {
      Warp warp = warp_of(row, cases, first);
      if (warp.active) row.expect_warp(warp);
      for (int lane = 0; lane < 32; ++lane)
        for (std::size_t k = 0; k < d.size(); ++k)
          if (warp.has(lane)) d[k][first + lane] = low(warp.d[k][lane], width(row.results[k]));
    }
  return d;
}

Verdict judged(const Row& row, const Cases& cases, const std::vector<std::vector<Bits>>& expected,
               const std::vector<Buffer>& after) {
  Verdict verdict;
  std::vector<Bits> a(row.operands.size());
  for (std::size_t k = 0; k < row.results.size(); ++k) {
    const Type type = row.results[k];
    const Buffer& results = after[1 + row.operands.size() + k];
    for (std::size_t i = 0; i < cases.states.size(); ++i) {
      const Bits got = unpacked(results, type, i);
      ++verdict.compared;
      if (row.judge && cases.states[i] == active) {
        for (std::size_t j = 0; j < a.size(); ++j) a[j] = cases.a[j][i];
        const Judged one = row.judge(a.data(), got);
        if (one.ulps > verdict.ulps) {
          verdict.ulps = one.ulps;
          verdict.ulps_at = shown_operands(row, cases, i);
        }
        if (!one.right)
          verdict.differs({shown_operands(row, cases, i), shown(type, got), one.expected});
      } else if (!same(row, type, got, expected[k][i])) {
        verdict.differs({shown_operands(row, cases, i),
                         shown(type, got) + (k ? fmt::format(" (result {})", k) : ""),
                         shown(type, expected[k][i])});
      }
    }
  }
  return verdict;
}

std::string plain_text(const std::string& form, std::size_t results, std::size_t operands) {
  std::string text = form;
  for (std::size_t k = 0; k < results; ++k) text += fmt::format("{} %d{}", k ? "," : "", k);
  for (std::size_t k = 0; k < operands; ++k) text += fmt::format(", %a{}", k);
  return text + ";";
}

}  // namespace

std::string target_of(const Experiment& experiment) {
  return experiment.target == Target::sm_80 ? "sm_80" : "sm_90a";
}

std::string header(const Experiment& experiment, const std::string& target) {
  return fmt::format(".version {}\n.target {}\n.address_size 64\n", experiment.version, target);
}
std::string header(const Experiment& experiment) {
  return header(experiment, target_of(experiment));
}

std::string named(const Experiment& experiment, const std::string& kernel) {
  std::string text = experiment.text;
  for (std::size_t at = 0; (at = text.find("KERNEL", at)) != std::string::npos; at += kernel.size())
    text.replace(at, 6, kernel);
  return text;
}

Row& Family::add(std::string form, std::vector<Type> results, std::vector<Operand> operands,
                 Expect expect) {
  Row& row = rows.emplace_back();
  row.text = plain_text(form, results.size(), operands.size());
  row.form = std::move(form);
  row.results = std::move(results);
  row.operands = std::move(operands);
  row.expect = std::move(expect);
  return row;
}

Row& Family::add_warp(std::string form, std::vector<Type> results, std::vector<Operand> operands,
                      ExpectWarp expect) {
  Row& row = add(std::move(form), std::move(results), std::move(operands), {});
  row.expect_warp = std::move(expect);
  return row;
}

Row& Family::add_judged(std::string form, Type result, std::vector<Operand> operands, Judge judge) {
  Row& row = add(std::move(form), {result}, std::move(operands), {});
  row.judge = std::move(judge);
  return row;
}

Experiment& Family::write(std::string form) {
  Experiment& experiment = experiments.emplace_back();
  experiment.form = std::move(form);
  return experiment;
}

std::function<Verdict(const std::vector<Buffer>&)> holds_floats(std::size_t index,
                                                                const Buffer& expected,
                                                                const Format& format) {
  const auto with_one_nan = [&format](Buffer buffer) {
    const std::size_t bytes = format.width() / 8;
    for (std::size_t at = 0; at + bytes <= buffer.size(); at += bytes) {
      Bits x = 0;
      std::memcpy(&x, buffer.data() + at, bytes);
      if (is_nan(format, x)) std::memcpy(buffer.data() + at, &format.nan, bytes);
    }
    return buffer;
  };
  const auto same = holds<std::uint32_t>(0, values_of<std::uint32_t>(with_one_nan(expected)));
  return [=](const std::vector<Buffer>& after) { return same({with_one_nan(after[index])}); };
}

Experiment experiment_of(const Row& row) {
  auto cases = std::make_shared<const Cases>(drawn(row));
  auto expected =
      std::make_shared<const std::vector<std::vector<Bits>>>(expected_results(row, *cases));
  const std::size_t threads = cases->states.size();
  Experiment experiment;
  experiment.form = row.form;
  experiment.target = row.target;
  experiment.version = row.version;
  experiment.text = kernel_text(row);
  experiment.grid[0] = static_cast<unsigned>(threads / block);
  experiment.block[0] = block;
  experiment.buffers.push_back(buffer_of(cases->states));
  for (std::size_t k = 0; k < row.operands.size(); ++k)
    experiment.buffers.push_back(packed(cases->a[k], row.operands[k].type));
  for (const Type type : row.results)
    experiment.buffers.push_back(
        packed(std::vector<Bits>(threads, low(marker, width(type))), type));
  experiment.judge = [row, cases, expected](const std::vector<Buffer>& after) {
    return judged(row, *cases, *expected, after);
  };
  return experiment;
}

void for_each(const Family& family, const std::string& part,
              const std::function<void(const Experiment&)>& f) {
  for (const Row& row : family.rows)
    if (row.form.find(part) != std::string::npos) f(experiment_of(row));
  for (const Experiment& experiment : family.experiments)
    if (experiment.form.find(part) != std::string::npos) f(experiment);
}

}  // namespace plumbline::ptx::conformance
