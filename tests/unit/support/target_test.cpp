#include <doctest/doctest.h>
#include <sched.h>

#include <lathe/support/cache_share.hpp>
#include <lathe/support/dynlib.hpp>
#include <lathe/support/target.hpp>
#include <string>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/support/impl/layer.ipp>
#endif

namespace lt = lathe;

TEST_CASE("the host is a machine that code can be made for") {
  const lt::Target& host = lt::host();
  INFO(host.str());
  CHECK(host.cores >= 1);
  CHECK(host.vector_bytes >= 16);
  CHECK(host.l1_bytes >= 8 << 10);
  CHECK(host.l2_bytes >= host.l1_bytes);
  CHECK(host.runs_on(host));
  CHECK(lt::Target("host") == host);
#if defined(__AVX512F__)
  CHECK(host.has("avx512f"));
#endif
#if defined(__linux__)
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) CHECK(host.cores == CPU_COUNT(&mask));
#endif
}

TEST_CASE("which machines have their last cache far away") {
  for (const char* far :
       {"skylake-avx512", "icelake-server", "sapphirerapids", "emeraldrapids", "neoverse-v2"})
    CHECK(lt::Target(far).far_last_cache);
  for (const char* near : {"znver2", "znver4", "znver5", "skylake", "alderlake", "tigerlake",
                           "rocketlake", "x86-64-v4", "apple-m1"})
    CHECK_FALSE(lt::Target(near).far_last_cache);
}

TEST_CASE("of a cache that a whole socket shares, a few processors reach a part") {
  using lathe::detail::count_processors, lathe::detail::reachable_cache;
  CHECK(count_processors("0-1") == 2);
  CHECK(count_processors("0-3,8-11,16") == 9);
  CHECK(count_processors("") == 0);
  CHECK(count_processors("all") == 0);
  constexpr std::int64_t mib = 1 << 20;
  CHECK(reachable_cache(260 * mib, "0-1") == 24 * mib);
  CHECK(reachable_cache(260 * mib, "0-51") == 260 * mib);
  CHECK(reachable_cache(32 * mib, "0-7") == 32 * mib);
  CHECK(reachable_cache(96 * mib, "0-7,96-103") == 96 * mib);  // stacked: 12 MiB a core
  CHECK(reachable_cache(32 * mib, "") == 32 * mib);
}

TEST_CASE("levels and models imply their instruction sets") {
  lt::Target v3("x86-64-v3"), v4("x86-64-v4"), zen4("znver4");
  CHECK(v3.has("fma"));
  CHECK(v3.has("sse3"));
  CHECK_FALSE(v3.has("avx512f"));
  CHECK(v3.vector_bytes == 32);
  CHECK(v3.vector_registers == 16);
  CHECK(v3.lanes(4) == 8);
  CHECK(v4.vector_bytes == 64);
  CHECK(v4.vector_registers == 32);
  CHECK(zen4.has("avx512bf16"));
  CHECK(zen4.load_lanes(4) == 8);
  CHECK(v4.load_lanes(4) == 16);
  CHECK(v3.load_lanes(4) == 8);
  CHECK(lt::Target("znver1").load_lanes(4) == 4);
  CHECK(lt::Target("znver5").load_lanes(4) == 16);
  CHECK(zen4.without("avx").load_lanes(4) == 4);
  CHECK(lt::Target("x86-64-v2").vector_bytes == 16);
  CHECK(lt::Target("avx2").cpu == "x86-64-v3");
  CHECK(v3.runs_on(v4));
  CHECK(v4.runs_on(zen4));
  std::string reason;
  CHECK_FALSE(zen4.runs_on(v4, &reason));
  CHECK(reason.find("avx512vnni") != std::string::npos);
  CHECK_FALSE(lt::Target("neoverse-v1").runs_on(v4, &reason));
  CHECK(reason == "code for aarch64 does not run on x86_64");
  CHECK(lt::Target("neoverse-v1").has("neon"));
  CHECK(v3.line_bytes == 64);
  CHECK(lt::Target("neoverse-v1").line_bytes == 64);
  CHECK(lt::Target("apple-m2").line_bytes == 128);
}

TEST_CASE("all known names make targets") {
  for (const auto& name : lt::known_targets()) {
    lt::Target t(name);
    INFO(t.str());
    CHECK(!t.cpu.empty());
    CHECK(t.vector_bytes >= 16);
    if (t.kind == lt::TargetKind::cuda) continue;
    for (int major = 16; major <= 22; ++major) CHECK(!t.llvm_cpu(major).empty());
  }
}

TEST_CASE("an instruction set can be added and taken away, with what hangs on it") {
  lt::Target zen4("znver4"), narrow = zen4.without("avx512f");
  CHECK_FALSE(narrow.has("avx512bf16"));
  CHECK(narrow.has("avx2"));
  CHECK(narrow.vector_bytes == 32);
  CHECK(lt::Target("x86-64-v3").with("avx512fp16").has("avx512vl"));
  CHECK(narrow.llvm_features(19).find("-avx512f,") != std::string::npos);
  CHECK(narrow.llvm_features(19).find("+avx2") != std::string::npos);
}

TEST_CASE("names that an LLVM does not know are not handed to it") {
  CHECK(lt::Target("znver5").llvm_cpu(20) == "znver5");
  CHECK(lt::Target("znver5").llvm_cpu(16) == "znver4");
  CHECK(lt::Target("aarch64").llvm_cpu(19) == "generic");
}

TEST_CASE("an LLVM does not get an instruction set that it cannot handle") {
  const lt::Target xeon("sapphirerapids");
  auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(xeon.llvm_features(19), "+avx512vbmi,"));
  CHECK(has(xeon.llvm_features(22), "-avx512vbmi"));
  CHECK_FALSE(has(xeon.llvm_features(22), "+avx512vbmi,"));
  CHECK(xeon.for_llvm(19) == xeon);
  CHECK_FALSE(xeon.for_llvm(22).has("avx512vbmi"));
  CHECK(xeon.for_llvm(22).has("avx512vbmi2"));
  CHECK_FALSE(xeon.for_llvm(13).has("avx512fp16"));
}

TEST_CASE("unknown names list the known ones") {
  try {
    lt::Target t("pentium");
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(e.id() == "L0404");
    CHECK(e.where().line != 0);
    CHECK(std::string(e.what()).find("'pentium'") != std::string::npos);
    CHECK(std::string(e.what()).find("znver4") != std::string::npos);
  }
  CHECK_THROWS_AS(lt::cuda("sm_1"), lt::UserError);
  try {
    lt::Target("x86-64-v3").with("sve");
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(e.id() == "L0405");
    CHECK(std::string(e.what()).find("'sve'") != std::string::npos);
  }
  CHECK(lt::cuda("sm_90").cpu == "sm_90");
}

TEST_CASE("libraries are opened by name or give the loader's reason") {
  std::string reason;
  CHECK_FALSE(lt::DynamicLibrary::open("libno_such_thing.so", &reason));
  CHECK(reason.find("libno_such_thing.so") != std::string::npos);
  auto self = lt::DynamicLibrary::open("libc.so.6");
  if (!self) return;
  CHECK(self.symbol("strlen") != nullptr);
  CHECK(self.symbol("no_such_symbol") == nullptr);
  CHECK(lt::DynamicLibrary::file_of(self.symbol("strlen")).find("libc") != std::string::npos);
}
