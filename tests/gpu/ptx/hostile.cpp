// SPDX-License-Identifier: Apache-2.0
// PTX that means harm, or that a broken generator wrote: it ends with a message, within limits of
// time and of memory.
#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdio>

#include "on_device.hpp"
#include "ptx/tensor_map.hpp"

namespace plumbline::ptx {

BOOST_AUTO_TEST_SUITE(hostile_test)

namespace {

const std::string head = ".version 8.6\n.target sm_90a\n.address_size 64\n";

Options with_limit(std::uint64_t milliseconds) {
  Options options;
  options.time_limit_ms = milliseconds;
  return options;
}

/// What the device says against a module or its kernel `k`; empty: nothing.
std::string said(const std::string& ptx, Extent grid = {1, 1, 1}, Extent block = {64, 1, 1},
                 Options options = with_limit(200)) {
  try {
    return run_text(ptx, grid, block, options).text;
  } catch (const BadPtx& bad) {
    return bad.what();
  } catch (const Refused& refused) {
    return refused.what();
  }
}

std::string said_of_body(const std::string& body, const std::string& before = "") {
  return said(kernel_of(body, before));
}

bool has(const std::string& text, const std::string& part) {
  const bool is = text.find(part) != text.npos;
  if (!is) BOOST_TEST_MESSAGE("no \"" << part << "\" in: " << text);
  return is;
}

/// The largest amount of memory that this process has had, in MiB.
long most_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

double seconds_of(const auto& function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string repeated(int count, const auto& text_of) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text_of(std::to_string(i));
  return all;
}

BOOST_AUTO_TEST_CASE(what_does_not_end_is_stopped) {
  const std::string stopped = "the kernel has not ended after 200 ms";
  BOOST_TEST(has(said_of_body("L: bra L;"), stopped));
  // In turns of a few instructions.
  BOOST_TEST(has(said_of_body("L: bar.sync 0;\nbra L;"), stopped));
  BOOST_TEST(has(said_of_body("L: shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;\nbra L;"), stopped));
  BOOST_TEST(has(said_of_body("L: atom.global.add.u32 %r1, [%in], 1;\nbra L;"), stopped));
  // Blocks that do nothing, more than a machine ever runs.
  BOOST_TEST(has(said(kernel_of(""), {0x7fffffff, 65535, 65535}, {32, 1, 1}), stopped));
  BOOST_TEST(
      has(said(kernel_of("red.global.add.u32 [%in], 1;"), {0x7fffffff, 65535, 65535}, {32, 1, 1}),
          stopped));
}

BOOST_AUTO_TEST_CASE(blocks_that_wait_for_one_another_are_as_many_as_the_device_has_room_for) {
  const long before = most_memory();
  BOOST_TEST(has(said(kernel_of("L: ld.acquire.gpu.global.u32 %r1, [%in];\nsetp.eq.u32 %p1, %r1, 0;"
                                "\n@%p1 bra L;"),
                      {1u << 30, 1, 1}, {32, 1, 1}, with_limit(0)),
                 "all blocks that run wait for a value that nobody writes"));
  BOOST_TEST(most_memory() - before < 1000);
}

BOOST_AUTO_TEST_CASE(copies_that_nobody_waits_for_are_counted) {
  const std::string counted = "has 65536 asynchronous operations in flight, and waits for none";
  Options unchecked = with_limit(20000);
  unchecked.check = false;
  BOOST_TEST(has(said(kernel_of("L: cp.async.ca.shared.global [s], [%in], 16;\nbra L;"), {1, 1, 1},
                      {64, 1, 1}, unchecked),
                 counted));
  BOOST_TEST(
      has(said(head + ".visible .entry k(.param .u64 o, .param .u64 i, .param .u32 m)\n{\n"
                      ".reg .b64 %o;\n.shared .align 16 .b8 s[64];\nld.param.u64 %o, [o];\n"
                      "st.shared.v4.b32 [s], {0, 0, 0, 0};\nfence.proxy.async;\n"
                      "L: cp.async.bulk.global.shared::cta.bulk_group [%o], [s], 16;\nbra L;\n}\n",
               {1, 1, 1}, {1, 1, 1}, with_limit(20000)),
          counted));
}

BOOST_AUTO_TEST_CASE(calls_without_an_end_are_stopped) {
  BOOST_TEST(has(said_of_body("call f, ();", ".func f()\n{\ncall f, ();\nret;\n}"),
                 "more than 512 calls in one another"));
  BOOST_TEST(has(said_of_body("call f, ();",
                              ".func f()\n{\n.local .b8 x[65536];\ncall f, ();\n"
                              "ret;\n}"),
                 "the calls need more than 524288 bytes of local memory"));
  BOOST_TEST(has(said_of_body("call k, ();"), "a call of a kernel"));
}

BOOST_AUTO_TEST_CASE(arrays_beyond_any_device_are_refused) {
  const std::string use = "mov.u64 %rd1, x;";
  BOOST_TEST(has(said_of_body(use, ".shared .b8 x[1099511627776];"),
                 "more shared memory than any device has"));
  BOOST_TEST(has(said_of_body(use, ".shared .b8 x[50000];"),
                 "50000 bytes of static shared memory, beyond 49152"));
  BOOST_TEST(has(said_of_body(".local .b8 x[1099511627776];"),
                 "more than 512 KiB of local memory in a function"));
  BOOST_TEST(has(said_of_body("", ".global .b8 x[1099511627776];"),
                 "an allocation of 1099511627776 bytes beyond the 8589934592 bytes of the device"));
  BOOST_TEST(has(said_of_body("", ".const .b8 x[1099511627776];"), "beyond the 8589934592 bytes"));
  for (const char* size : {"[4294967296][4294967296]", "[18446744073709551615]", "[-1]",
                           "[9223372036854775808][2]", "[2199023255552]"}) {
    BOOST_TEST(has(said_of_body("", std::string(".global .b64 x") + size + ";"),
                   "PTX line 4: a variable of more than 2^40 bytes"));
    BOOST_TEST(has(said_of_body(std::string(".local .b64 x") + size + ";"),
                   "a variable of more than 2^40 bytes"));
  }
  BOOST_TEST(has(said(head + ".visible .entry k(.param .b8 x[32765])\n{\nret;\n}\n"),
                 "PTX line 4: more than 32764 bytes of parameters of a kernel"));
}

BOOST_AUTO_TEST_CASE(variables_as_large_as_the_device_take_no_memory_before_they_are_used) {
  const long before = most_memory();
  const Run run =
      run_text(kernel_of("ld.global.u32 %r1, [x+7000000000];\nst.global.u32 [%out], %r1;",
                         ".global .align 4 .b8 x[8000000000];"),
               {1, 1, 1}, {1, 1, 1});
  BOOST_TEST(run.text == "");
  BOOST_TEST(run.out[0] == 0u);
  BOOST_TEST(most_memory() - before < 500);
}

BOOST_AUTO_TEST_CASE(variables_are_0_also_where_another_module_had_written) {
  Device device;
  const auto value = [&] {
    const auto module = device.load(head + ".visible .global .b8 x[10000];\n");
    const auto [address, bytes] = device.variable(module, "x");
    std::vector<std::uint8_t> all(bytes);
    device.read(all.data(), address, bytes);
    device.set(address, 7, bytes);
    device.unload(module);
    return std::count(all.begin(), all.end(), 0);
  };
  for (int i = 0; i < 3; ++i) BOOST_TEST(value() == 10000);
}

BOOST_AUTO_TEST_CASE(wild_addresses_of_every_space_are_named) {
  std::uint32_t of_the_host = 7;
  const std::uint64_t host = reinterpret_cast<std::uint64_t>(&of_the_host) & ~std::uint64_t{3};
  const std::uint64_t shared = std::uint64_t{1} << 60, local = std::uint64_t{3} << 59;
  const std::vector<std::uint64_t> addresses = {
      0,      4,           0xdeadbee0,     host,        0x7fffffffffffff00, 0xfffffffffffffff0,
      shared, shared + 16, shared + 65536, shared - 16, local + 524288,     local + 0xfffffff0};
  for (const std::uint64_t address : addresses) {
    const std::string begin = "mov.u64 %rd1, " + std::to_string(address) + ";\n";
    for (const char* access :
         {"ld.u32 %r1, [%rd1];", "st.u32 [%rd1], %r1;", "ld.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];",
          "ld.global.u64 %rd2, [%rd1];", "st.global.u8 [%rd1], %r1;", "ld.const.u32 %r1, [%rd1];",
          "ld.param.u32 %r1, [%rd1];", "atom.add.u32 %r1, [%rd1], 1;",
          "red.global.add.f32 [%rd1], %f1;", "cp.async.ca.shared.global [s], [%rd1], 16;",
          "cp.async.bulk.prefetch.L2.global [%rd1], 16;", "ld.local.u32 %r1, [%rd1];",
          "ld.shared.u32 %r1, [%rd1];", "st.shared.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};",
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%rd1];",
          "mbarrier.init.shared.b64 [%rd1], 1;", "st.local.u64 [%rd1], %rd1;",
          "wmma.load.c.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4}, [%rd1];"}) {
      const std::string text = said_of_body(begin + access);
      BOOST_TEST_CONTEXT(access << " at " << address << ": " << text) {
        const std::string name = std::string(access).substr(0, std::string(access).find(' '));
        // A kernel may ask for nothing to be fetched.
        BOOST_TEST((has(text, name) || name.starts_with("cp.async.bulk.prefetch") ||
                    address == shared || name.find("shared") != name.npos));
      }
    }
  }
  BOOST_TEST(of_the_host == 7u);
}

BOOST_AUTO_TEST_CASE(calls_and_branches_through_wrong_values_are_named) {
  const std::string proto = "{\nP: .callprototype _ ();\nmov.u64 %rd1, X;\ncall %rd1, (), P;\n}";
  for (const char* target : {"0", "1", "2", "99", "0xffffffffffffffff", "%out", "%in"}) {
    std::string body = proto;
    body.replace(body.find('X'), 1, target);
    // f, too, of which the kernel takes no address.
    BOOST_TEST(has(said_of_body(body, ".func f()\n{\nret;\n}"), "a call of what is no function"));
  }
  // Another prototype than the function's own.
  BOOST_TEST(has(said_of_body("{\n.param .b32 a; .param .b32 r;\nst.param.b32 [a], 1;\n"
                              "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                              "mov.u64 %rd1, f;\ncall (r), %rd1, (a), P;\n}",
                              ".func (.param .b8 r[4096]) f(.param .b8 a[4096])\n{\nret;\n}"),
                 "a call with other arguments"));
  for (const char* index : {"2", "-1", "0x7fffffff"})
    BOOST_TEST(has(said_of_body("mov.u32 %r1, " + std::string(index) +
                                ";\nT: .branchtargets A, B;\nbrx.idx %r1, T;\nA: ret;\nB: ret;"),
                   "brx.idx takes entry"));
}

BOOST_AUTO_TEST_CASE(tensor_boxes_beyond_shared_memory_are_named) {
  Device device(with_limit(200));
  const Address tensor = device.allocate(4096);
  const std::uint64_t size[] = {4096, 4096, 4096, 4096, 4096}, stride[] = {16, 16, 16, 16};
  const std::uint32_t step[] = {1, 1, 1, 1, 1};
  const auto module = device.load(
      head +
      ".visible .entry k(.param .align 64 .b8 map[128])\n{\n.reg .b64 %m;\n.reg .b32 %z;\n"
      ".shared .align 128 .b8 s[1024];\n.shared .align 8 .b64 bar;\nmov.b64 %m, map;\n"
      "cvta.param.u64 %m, %m;\nmov.u32 %z, 0;\nmbarrier.init.shared.b64 [bar], 1;\n"
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [s], "
      "[%m, {%z, %z, %z, %z, %z}], [bar];\nret;\n}\n");
  // 2^40 bytes, and others that are few modulo 2^32.
  for (const std::uint32_t inner : {256u, 240u, 16u}) {
    const std::uint32_t box[] = {inner, 255 + inner / 256, 256, 256, 256};
    TensorMap map;
    encode_tiled(&map, 0, 5, reinterpret_cast<void*>(tensor), size, stride, box, step, 0, 0, 0, 0);
    std::string text;
    try {
      device.launch(device.kernel(module, "k"), {}, std::as_bytes(std::span(&map, 1)));
    } catch (const Fault& fault) {
      text = fault.what();
    }
    BOOST_TEST(has(text, "of shared memory, of which it has"));
  }
}

BOOST_AUTO_TEST_CASE(misaligned_vectors_are_named) {
  BOOST_TEST(has(said_of_body("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in+4];"),
                 "which is no multiple of 16"));
  BOOST_TEST(
      has(said_of_body("st.global.v2.u64 [%out+8], {%rd1, %rd2};"), "which is no multiple of 16"));
}

BOOST_AUTO_TEST_CASE(barriers_that_are_never_reached_by_all_are_named) {
  BOOST_TEST(has(said_of_body("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 0;\n"
                              "@%p1 ret;\nbar.sync 1;"),
                 "waits at barrier"));
  BOOST_TEST(has(said_of_body("bar.sync 1, 2048;"), "waits at barrier 1"));
  BOOST_TEST(has(said_of_body("mov.u32 %r1, 16;\nbarrier.sync %r1;"), "barrier 16 does not exist"));
}

/// A call of vprintf with a format and its argument's 8 bytes.
std::string printed(const std::string& format, const std::string& argument) {
  const std::string body(
      "{\n.param .b64 f, a; .param .b32 r;\n.local .align 8 .b64 given;\n"
      "cvta.local.u64 %rd1, given;\nmov.u64 %rd2, " +
      argument + ";\nst.local.u64 [given], %rd2;\nmov.u64 %rd3, " + format +
      ";\nst.param.b64 [f], %rd3;\nst.param.b64 [a], %rd1;\n"
      "call.uni (r), vprintf, (f, a);\n}");
  return said(
      kernel_of(body,
                ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                ".global .b8 string[4] = {37, 115, 10, 0};\n"  // %s
                ".global .b8 wide[16] = {37, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 100};\n"
                ".global .b8 long[16] = {37, 46, 57, 57, 57, 57, 57, 57, 57, 57, 57, 102};\n"),
      {1, 1, 1}, {1, 1, 1});
}

BOOST_AUTO_TEST_CASE(printf_of_wild_pointers_is_named) {
  BOOST_TEST(has(printed("0", "0"), "a null pointer"));
  BOOST_TEST(has(printed("0xdeadbeef", "0"), "no allocation is near"));
  BOOST_TEST(has(printed("string", "0xdeadbeef"), "no allocation is near"));
  output_of([] {
    printed("string", "string + 4");
    printed("%out", "0");
  });
  // Widths and precisions of 10^9.
  const long before = most_memory();
  std::string said_of_wide, said_of_long;
  const std::string wide = output_of([&] { said_of_wide = printed("wide", "0"); });
  const std::string precise =
      output_of([&] { said_of_long = printed("long", "0x3ff0000000000000"); });
  BOOST_TEST(said_of_wide == "");
  BOOST_TEST(said_of_long == "");
  BOOST_TEST((wide.size() > 99 && wide.size() < 10000 && wide.ends_with(" 0")));
  BOOST_TEST((precise.size() > 99 && precise.size() < 10000 && precise.starts_with("1.000")));
  BOOST_TEST(most_memory() - before < 500);
}

BOOST_AUTO_TEST_CASE(functions_that_the_device_lacks_are_named) {
  BOOST_TEST(
      has(said_of_body("{\n.param .b64 n, p;\nst.param.b64 [n], 8;\ncall (p), malloc, (n);\n}",
                       ".extern .func (.param .b64 p) malloc(.param .b64 n);"),
          "malloc"));
}

BOOST_AUTO_TEST_CASE(programs_of_a_million_registers_or_labels_take_seconds) {
  const int many = 200000;
  const std::string count = std::to_string(many);
  const auto entry = [&](const std::string& body) {
    return head + ".visible .entry k()\n{\n.reg .b32 %a<" + count + ">;\n.reg .b32 %x;\n" + body +
           "ret;\n}\n";
  };
  const long before = most_memory();
  const double seconds = seconds_of([&] {
    Device device(with_limit(1000));
    const auto launched = [&](const std::string& ptx) -> std::string {
      try {
        device.launch(device.kernel(device.load(ptx), "k"), {}, {});
      } catch (const std::exception& error) {
        return error.what();
      }
      return "";
    };
    const auto sets = repeated(many, [](const auto& i) { return "mov.b32 %a" + i + ", 1;\n"; });
    const auto reads =
        repeated(many, [](const auto& i) { return "xor.b32 %x, %x, %a" + i + ";\n"; });
    BOOST_TEST(launched(entry(sets)) == "");
    BOOST_TEST(has(launched(entry(sets + reads)), "more registers at once"));
    // Each label is the target of a branch, and every register is alive across all of them.
    const auto labels = repeated(many / 4, [&](const auto& i) {
      return "setp.eq.b32 %p, %x, 5;\n@%p bra L" + std::to_string(many / 4 - 1 - std::stoi(i)) +
             ";\nL" + i + ":\nmov.b32 %a" + i + ", %x;\n";
    });
    BOOST_TEST(has(launched(entry(".reg .pred %p;\nmov.b32 %x, 1;\n" + labels + reads)),
                   "more registers at once"));
    std::string names;
    for (int i = 0; i < 2000; ++i) names += (i ? ", L" : "L") + std::to_string(i);
    const auto jumps = repeated(2000, [](const auto& i) { return "L" + i + ": brx.idx %x, T;\n"; });
    launched(entry("mov.b32 %x, 1;\nT: .branchtargets " + names + ";\n" + jumps));
    BOOST_TEST(has(launched(entry(".reg .b32 %b<4294967295>;\n")), "more than 2^20 registers"));
  });
  BOOST_TEST(seconds < 60);
  BOOST_TEST(most_memory() - before < 2000);
}

BOOST_AUTO_TEST_CASE(long_names_and_lines_are_shortened_in_messages) {
  const std::string name(1 << 20, 'a');
  for (const std::string& text :
       {said_of_body(name + ".b32 %r1;"), said_of_body("mov.b32 %r1, " + name + ";"),
        said_of_body("bra " + name + ";"), said_of_body("mov.b32 " + std::string(1 << 20, ' ')),
        said_of_body("ld.global.u32 %r1, [%in /*" + name + "*/ + 5000];"),
        said_of_body("", ".global .b32 " + name + ";\n.global .b32 " + name + ";"),
        said_of_body("." + name + ";"), said_of_body("mov.b32 %" + name + ", 1;")}) {
    BOOST_TEST(text != "");
    BOOST_TEST(text.size() < 5000);
  }
}

BOOST_AUTO_TEST_CASE(texts_that_end_too_soon_are_refused) {
  BOOST_TEST(has(said_of_body("/* " + std::string(1 << 20, '\n')), "a comment that does not end"));
  BOOST_TEST(has(said_of_body(".pragma \"" + std::string(1 << 20, 'x')), "a string that does not"));
  BOOST_TEST(has(said_of_body("{{{"), "has no closing brace"));
}

BOOST_AUTO_TEST_CASE(messages_are_utf_8) {
  BOOST_TEST(has(said_of_body("\xff"), "a character that PTX does not have"));
  // In a comment within an instruction, and in the name of a source file.
  BOOST_TEST(
      has(said_of_body("ld.global.u32 %r1, [%in /* \xff\xc0\xaf\xed\xa0\x80 \xc3\xbc */ + 5000];"),
          "[%in /* ?????? \xc3\xbc */ + 5000]"));
  BOOST_TEST(
      has(said_of_body(".loc 1 7 0\nld.global.u32 %r1, [%in+5000];", ".file 1 \"a\xff\x01.cu\""),
          "from a??.cu:7"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::ptx
