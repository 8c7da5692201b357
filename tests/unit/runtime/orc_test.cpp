#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <lathe/runtime/orc.hpp>
#include <stdexcept>
#include <support/sanitized.hpp>
#include <thread>

#include "llvm_versions.hpp"
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/runtime/impl/layer.ipp>
#endif

namespace lt = lathe;

namespace {

/// y = x * x + y over 16 floats, then returns `status`.
std::string fma_text(const std::string& name, int status = 0) {
  return "define i32 @" + name + R"((ptr %slots, ptr %rt) nounwind {
  %x = load ptr, ptr %slots
  %yp = getelementptr ptr, ptr %slots, i64 1
  %y = load ptr, ptr %yp
  %a = load <16 x float>, ptr %x, align 4
  %b = load <16 x float>, ptr %y, align 4
  %r = call <16 x float> @llvm.fma.v16f32(<16 x float> %a, <16 x float> %a, <16 x float> %b)
  store <16 x float> %r, ptr %y, align 4
  ret i32 )" +
         std::to_string(status) + R"(
}
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
)";
}

/// Adds 1 to each of slots[1] floats at slots[0] in a parallel loop, through a temporary and memset
/// and memcpy.
constexpr const char* parallel_text = R"(
declare i32 @lathe_parallel_for(ptr, i64, i64, ptr, ptr)
declare ptr @lathe_alloc(ptr, i64, i64)
declare void @lathe_free(ptr, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal i32 @body(ptr %data, i64 %begin, i64 %end, ptr %rt) nounwind {
entry:
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %loop, label %done
loop:
  %p = getelementptr float, ptr %data, i64 %i
  %v = load float, ptr %p
  %w = fadd float %v, 1.0
  store float %w, ptr %p
  %next = add i64 %i, 1
  br label %head
done:
  ret i32 0
}

define i32 @par(ptr %slots, ptr %rt) nounwind {
  %data = load ptr, ptr %slots
  %np = getelementptr i64, ptr %slots, i64 1
  %n = load i64, ptr %np
  %bytes = mul i64 %n, 4
  %tmp = call ptr @lathe_alloc(ptr %rt, i64 %bytes, i64 64)
  %none = icmp eq ptr %tmp, null
  br i1 %none, label %poor, label %go
poor:
  ret i32 1
go:
  call void @llvm.memset.p0.i64(ptr %tmp, i8 0, i64 %bytes, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %tmp, ptr %data, i64 %bytes, i1 false)
  %s = call i32 @lathe_parallel_for(ptr %rt, i64 %n, i64 0, ptr @body, ptr %tmp)
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %tmp, i64 %bytes, i1 false)
  call void @lathe_free(ptr %rt, ptr %tmp)
  ret i32 %s
}
)";

float run_fma(const lt::LoadedKernel& kernel, const lt::Context& context) {
  std::vector<float> x(16, 3), y(16, 1);
  std::uint64_t slots[] = {lt::to_slot(x.data()), lt::to_slot(y.data())};
  lt::call_kernel(kernel.entry(), slots, context, {kernel.symbol()});
  return y[15];
}

long resident_pages() {
  long total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

/// Mappings that are writable and executable; and whether `address` lies in one that is executable.
std::string writable_and_executable(const void* address, bool& executable) {
  std::ifstream maps("/proc/self/maps");
  std::string line, bad;
  executable = false;
  while (std::getline(maps, line)) {
    unsigned long long begin = 0, end = 0;
    char mode[8] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %7s", &begin, &end, mode) != 3) continue;
    auto at = reinterpret_cast<std::uintptr_t>(address);
    if (mode[1] == 'w' && mode[2] == 'x') bad += line + "\n";
    executable |= at >= begin && at < end && mode[2] == 'x' && mode[1] != 'w';
  }
  return bad;
}

std::string refusal(const lt::Jit& jit, const std::vector<char>& object, const char* symbol) {
  try {
    jit.load(object, symbol);
  } catch (const lt::InternalError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("text is compiled, linked and run, and its pages are not writable") {
  for_each_llvm([](const lt::Llvm& llvm) {
    auto jit = lt::Jit::make(llvm);
    auto kernel = jit->load(lt::compile_to_object(llvm, fma_text("k"), lt::host()), "k");
    CHECK(run_fma(*kernel, lt::Context()) == 10);
    bool executable = false;
    CHECK(writable_and_executable(kernel->address(), executable) == "");
    CHECK(executable);
    CHECK(jit->loaded() == 1);
    kernel.reset();
    CHECK(jit->loaded() == 0);
  });
}

TEST_CASE("hooks are reached, and the host's exception passes through generated code") {
  for_each_llvm([](const lt::Llvm& llvm) {
    auto jit = lt::Jit::make(llvm);
    auto kernel = jit->load(lt::compile_to_object(llvm, parallel_text, lt::host()), "par");
    std::vector<float> data(1000, 1.0f);
    std::uint64_t slots[] = {lt::to_slot(data.data()), 1000};
    lt::Context pooled({.threads = 3});
    lt::call_kernel(kernel->entry(), slots, pooled, {"par"});
    CHECK(data == std::vector<float>(1000, 2.0f));
    CHECK(pooled.bytes_in_use() == 0);
    lt::Context broken({.threads = 2, .parallel_for = [](std::int64_t, int, auto body) {
                          body(0, 1);
                          throw std::out_of_range("host pool");
                        }});
    CHECK_THROWS_WITH_AS(lt::call_kernel(kernel->entry(), slots, broken, {"par"}), "host pool",
                         std::out_of_range);
    CHECK(broken.bytes_in_use() == 0);
    lt::Context poor({.memory_budget = 100});
    CHECK_THROWS_AS(lt::call_kernel(kernel->entry(), slots, poor, {"par"}), lt::UserError);
  });
}

TEST_CASE("an object is loaded once, and again after its last reference went") {
  for_each_llvm([](const lt::Llvm& llvm) {
    auto jit = lt::Jit::make(llvm);
    auto object = lt::compile_to_object(llvm, fma_text("k"), lt::host());
    auto first = jit->load(object, "k"), second = jit->load(object, "k");
    CHECK(first == second);
    CHECK(refusal(*jit, lt::compile_to_object(llvm, fma_text("k", 3), lt::host()), "k")
              .find("two different objects") != std::string::npos);
    first.reset();
    second.reset();
    auto third = jit->load(object, "k");
    CHECK(run_fma(*third, lt::Context()) == 10);
  });
}

TEST_CASE("a kernel keeps its linker alive") {
  for_each_llvm([](const lt::Llvm& llvm) {
    std::shared_ptr<const lt::LoadedKernel> kernel;
    {
      lt::Context context({.llvm = std::to_string(llvm.major())});
      const lt::Jit& jit = lt::Jit::of(context);
      CHECK(&jit.llvm() == &llvm);
      CHECK(&lt::Jit::of(context) == &jit);
      kernel = jit.load(lt::compile_to_object(llvm, fma_text("k"), lt::host()), "k");
    }
    CHECK(run_fma(*kernel, lt::Context()) == 10);
  });
}

TEST_CASE("objects that cannot be linked are refused before LLVM sees them") {
  for_each_llvm([](const lt::Llvm& llvm) {
    auto jit = lt::Jit::make(llvm);
    auto object = lt::compile_to_object(
        llvm,
        "declare float @cosf(float)\ndefine float @k(float %x) {\n"
        "  %y = call float @cosf(float %x)\n  %z = fadd float %y, 1.0\n  ret float %z\n}\n",
        lt::host());
    CHECK(refusal(*jit, object, "k").find("cosf") != std::string::npos);
    CHECK(refusal(*jit, lt::compile_to_object(llvm, fma_text("k"), lt::host()), "other")
              .find("'other'") != std::string::npos);
    CHECK(refusal(*jit, {'n', 'o'}, "k").find("not an ELF object") != std::string::npos);
    jit->define("cosf", reinterpret_cast<void*>(
                            static_cast<float (*)(float)>([](float x) { return 2 * x; })));
    auto kernel = jit->load(object, "k");
    CHECK(reinterpret_cast<float (*)(float)>(kernel->address())(3) == 7);
    CHECK_THROWS_AS(jit->define("memcpy", nullptr), lt::InternalError);
  });
}

TEST_CASE("200 kernels come and go and memory stays flat") {
  for_each_llvm([](const lt::Llvm& llvm) {
    auto jit = lt::Jit::make(llvm);
    lt::Context context;
    auto object = lt::compile_to_object(llvm, fma_text("k"), lt::host());
    long before = 0;
    for (int i = 0; i < 200; ++i) {
      if (i == 50) before = resident_pages();
      CHECK(run_fma(*jit->load(object, "k"), context) == 10);
    }
    // A sanitizer keeps freed memory.
    if (!test::has_address_sanitizer() && !test::has_thread_sanitizer())
      CHECK(resident_pages() - before < 128);
    MESSAGE("pages gained in 150 cycles: " << resident_pages() - before);
    CHECK(jit->loaded() == 0);
  });
}

TEST_CASE("many threads compile, link, run and drop") {
  for_each_llvm([](const lt::Llvm& llvm) {
    auto jit = lt::Jit::make(llvm);
    lt::Context context({.threads = 2});
    auto shared = lt::compile_to_object(llvm, fma_text("shared"), lt::host());
    std::atomic<int> bad{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t) {
      threads.emplace_back([&, t] {
        auto own = "k" + std::to_string(t);
        auto object = lt::compile_to_object(llvm, fma_text(own), lt::host());
        for (int i = 0; i < 30; ++i) {
          if (run_fma(*jit->load(object, own), context) != 10) ++bad;
          if (run_fma(*jit->load(shared, "shared"), context) != 10) ++bad;
        }
      });
    }
    for (auto& t : threads) t.join();
    CHECK(bad == 0);
    CHECK(jit->loaded() == 0);
  });
}

TEST_CASE("perf learns the name and place of each function") {
  for_each_llvm([](const lt::Llvm& llvm) {
    auto path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
    std::remove(path.c_str());
    auto jit = lt::Jit::make(llvm, true);
    auto kernel = jit->load(lt::compile_to_object(llvm, parallel_text, lt::host()), "par");
    std::ifstream map(path);
    unsigned long long address = 0, size = 0;
    std::string name;
    bool entry = false, body = false;
    while (map >> std::hex >> address >> size >> name) {
      entry |= name == "par" && address == reinterpret_cast<std::uintptr_t>(kernel->address()) &&
               size > 0;
      body |= name == "body" && size > 0;
    }
    CHECK(entry);
    CHECK(body);
    std::remove(path.c_str());
  });
}
