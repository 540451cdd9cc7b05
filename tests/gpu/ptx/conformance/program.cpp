// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/ptx/conformance/program.hpp"

#include <fmt/format.h>

namespace plumbline::ptx::conformance {

Experiment& add_program(Family& family, const std::string& form, const Program& program,
                        const Expected& expected) {
  Experiment& experiment = family.write(form);
  experiment.target = program.target;
  experiment.version = program.version;
  experiment.grid[0] = program.blocks;
  experiment.block[0] = program.threads;
  std::string text = program.module + ".visible .entry KERNEL(.param .u64 p0";
  for (std::size_t i = 1; i <= program.more.size(); ++i)
    text += fmt::format(", .param .u64 p{}", i);
  for (std::size_t i = 0; i < program.maps.size(); ++i)
    text += fmt::format(", .param .align 64 .b8 map{}[128]", i);
  text +=
      ")\n{\n  .reg .pred %p<8>;\n  .reg .b16 %h<8>;\n  .reg .b32 %t, %g, %lane, %warp, %r<32>;\n"
      "  .reg .b64 %out, %b<4>, %m<4>, %l<16>;\n  .reg .f32 %f<8>;\n  .reg .f64 %w<8>;\n";
  for (std::size_t i = 1; i <= program.more.size(); ++i)
    text += fmt::format("  ld.param.u64 %b{0}, [p{0}];\n  cvta.to.global.u64 %b{0}, %b{0};\n", i);
  for (std::size_t i = 0; i < program.maps.size(); ++i)
    text += fmt::format("  mov.b64 %m{0}, map{0};\n  cvta.param.u64 %m{0}, %m{0};\n", i);
  text +=
      "  mov.u32 %t, %tid.x;\n  mov.u32 %g, %ctaid.x;\n  mov.u32 %r0, %ntid.x;\n"
      "  mad.lo.u32 %g, %g, %r0, %t;\n  and.b32 %lane, %t, 31;\n  shr.u32 %warp, %t, 5;\n"
      "  ld.param.u64 %out, [p0];\n  cvta.to.global.u64 %out, %out;\n"
      "  mul.wide.u32 %b0, %g, 4;\n  add.s64 %out, %out, %b0;\n  mov.u32 %r0, 0xdead;\n";
  experiment.text = text + program.body + "\n  st.global.u32 [%out], %r0;\n  ret;\n}\n";
  std::vector<std::uint32_t> values(program.blocks * program.threads);
  experiment.buffers = {buffer_of(std::vector<std::uint32_t>(values.size(), untouched))};
  experiment.maps = program.maps;
  experiment.buffers.insert(experiment.buffers.end(), program.more.begin(), program.more.end());
  for (unsigned block = 0; block < program.blocks; ++block)
    for (unsigned thread = 0; thread < program.threads; ++thread)
      values[block * program.threads + thread] = expected(block, thread);
  experiment.judge = holds<std::uint32_t>(0, values);
  return experiment;
}

}  // namespace plumbline::ptx::conformance
