#include <doctest/doctest.h>

#include <cstdlib>
#include <lathe/runtime/abi.hpp>
#include <stdexcept>
#include <string>
#include <vector>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/runtime/impl/layer.ipp>
#endif

namespace lt = lathe;

// Kernels written by hand, as generated code would be.
namespace {

std::int32_t needs_memory(const std::uint64_t* slots, lt::RuntimeTable* rt) {
  void* block = rt->alloc(rt, static_cast<std::int64_t>(slots[0]), 64);
  if (!block) return 1;
  rt->free(rt, block);
  return 0;
}

std::int32_t loops(const std::uint64_t* slots, lt::RuntimeTable* rt) {
  auto body = [](void* closure, std::int64_t begin, std::int64_t end, void*) -> std::int32_t {
    for (; begin < end; ++begin) static_cast<float*>(closure)[begin] += 1;
    return 0;
  };
  float* data;
  std::memcpy(&data, &slots[0], sizeof data);
  return rt->parallel_for(rt, static_cast<std::int64_t>(slots[1]), 0, body, data);
}

std::int32_t asserts(const std::uint64_t* slots, lt::RuntimeTable*) {
  return 16 + static_cast<std::int32_t>(slots[0]);
}

std::string message_of(lt::KernelEntry entry, const std::uint64_t* slots,
                       const lt::Context& context, const lt::KernelNotes& notes,
                       std::string* id = nullptr) {
  try {
    lt::call_kernel(entry, slots, context, notes);
  } catch (const lt::UserError& e) {
    if (id) *id = e.id();
    return e.what();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("slots carry pointers, indices and scalars") {
  CHECK(lt::to_slot(std::int64_t(-1)) == ~0ull);
  CHECK(lt::to_slot(1.0f) == 0x3F800000u);
  CHECK(lt::to_slot(std::uint8_t(255)) == 255);
  float x;
  CHECK(lt::to_slot(&x) == reinterpret_cast<std::uintptr_t>(&x));
}

TEST_CASE("a loop reaches the pool or the hook") {
  std::vector<float> data(1000);
  std::uint64_t slots[] = {lt::to_slot(data.data()), 1000};
  lt::Context context({.threads = 3});
  lt::call_kernel(loops, slots, context, {"loops"});
  int calls = 0;
  lt::Context hooked(
      {.threads = 3, .parallel_for = [&](std::int64_t n, int, auto body) { ++calls, body(0, n); }});
  lt::call_kernel(loops, slots, hooked, {"loops"});
  CHECK(calls == 1);
  CHECK(data == std::vector<float>(1000, 2.0f));
}

TEST_CASE("the host's own exception comes out of the call") {
  std::vector<float> data(1000);
  std::uint64_t slots[] = {lt::to_slot(data.data()), 1000};
  lt::Context context({.threads = 2, .parallel_for = [](std::int64_t, int, auto) {
                         throw std::runtime_error("pool is down");
                       }});
  CHECK_THROWS_WITH_AS(lt::call_kernel(loops, slots, context, {"loops"}), "pool is down",
                       std::runtime_error);
  lt::Context poor({.allocate = [](std::size_t, std::size_t) -> void* {
                      throw std::domain_error("no such memory");
                    },
                    .deallocate = [](void*, std::size_t) {}});
  CHECK_THROWS_WITH_AS(lt::call_kernel(needs_memory, slots, poor, {"k"}), "no such memory",
                       std::domain_error);
  CHECK(poor.bytes_in_use() == 0);
}

TEST_CASE("memory that is not there is an error with the budget in it") {
  std::uint64_t slots[] = {1 << 20};
  std::string id;
  lt::Context context({.memory_budget = 1000});
  auto message = message_of(needs_memory, slots, context, {"big"}, &id);
  CHECK(id == "L0406");
  CHECK(message.find("'big'") != std::string::npos);
  CHECK(message.find("1000 bytes") != std::string::npos);
  CHECK(message_of(needs_memory, slots, lt::Context(), {"big"}) == "");
  std::uint64_t negative[] = {~0ull};
  message_of(needs_memory, negative, lt::Context(), {"big"}, &id);
  CHECK(id == "L0406");
}

TEST_CASE("an assertion gives its message") {
  std::string texts[] = {"i < n", "x is sorted"}, id;
  std::uint64_t slots[] = {1};
  auto message = message_of(asserts, slots, lt::Context(), {"gather", texts, 2}, &id);
  CHECK(id == "L0407");
  CHECK(message.find("kernel 'gather': x is sorted") != std::string::npos);
  slots[0] = 5;
  CHECK(message_of(asserts, slots, lt::Context(), {"gather", texts, 2}).find("assertion 5") !=
        std::string::npos);
}
