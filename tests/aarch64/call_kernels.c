// Calls what make_kernels made, and compares what comes of it with the evaluator's bytes.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct Runtime;
typedef int32_t (*Body)(void*, int64_t, int64_t, struct Runtime*);
struct Runtime {
  int32_t (*parallel_for)(struct Runtime*, int64_t, int64_t, Body, void*);
  void* (*alloc)(struct Runtime*, int64_t, int64_t);
  void (*free)(struct Runtime*, void*);
  void* opaque;
  void (*report)(struct Runtime*, int64_t, int64_t);
};

enum Nan { any_bits, f64, f32, f16, bf16, e4m3, e5m2 };
struct Slot {
  int kind;  // 0: a value; 1: an array; 2: one that is written
  enum Nan nan;
  uint64_t value;          // or bytes
  uint64_t before, after;  // where data.bin has them
};
struct Call {
  const char* name;
  int32_t (*kernel)(const uint64_t*, struct Runtime*);
  const struct Slot* slots;
  int count;
};

#include "calls.h"

enum { page = 65536, most_slots = 64 };

int32_t lathe_parallel_for(struct Runtime* rt, int64_t n, int64_t most, Body body, void* closure) {
  (void)most;
  for (int64_t k = n; k-- > 0;) {
    const int32_t status = body(closure, k, k + 1, rt);
    if (status) return status;
  }
  return 0;
}
// Before a page that faults, and full of what no program means.
static char* room(uint64_t bytes, uint64_t alignment) {
  const uint64_t taken = (bytes + alignment - 1) / alignment * alignment;
  const uint64_t whole = (taken + page - 1) / page * page;
  char* base = mmap(0, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED || mprotect(base + whole, page, PROT_NONE) != 0) exit(2);
  memset(base, 0xcb, whole);
  return base + whole - taken;
}
void* lathe_alloc(struct Runtime* rt, int64_t bytes, int64_t alignment) {
  (void)rt;
  return room((uint64_t)bytes, (uint64_t)alignment);
}
void lathe_free(struct Runtime* rt, void* block) { (void)rt, (void)block; }
void lathe_report(struct Runtime* rt, int64_t k, int64_t value) { (void)rt, (void)k, (void)value; }

static unsigned width_of(enum Nan nan) {
  return nan == f64 ? 8 : nan == f32 ? 4 : nan == f16 || nan == bf16 ? 2 : 1;
}
static int is_nan(const char* at, enum Nan nan) {
  uint64_t bits = 0;
  memcpy(&bits, at, width_of(nan));
  switch (nan) {
    case f64: return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    case f32: return (bits & 0x7fffffff) > 0x7f800000;
    case f16: return (bits & 0x7fff) > 0x7c00;
    case bf16: return (bits & 0x7fff) > 0x7f80;
    case e4m3: return (bits & 0x7f) == 0x7f;
    case e5m2: return (bits & 0x7f) > 0x7c;
    default: return 0;
  }
}
// The first byte that differs; -1: none.
static int64_t difference(const char* got, const char* wanted, uint64_t bytes, enum Nan nan) {
  const unsigned width = width_of(nan);
  for (uint64_t k = 0; k < bytes; k += width)
    if (memcmp(got + k, wanted + k, width) != 0 && !(is_nan(got + k, nan) && is_nan(wanted + k, nan)))
      return (int64_t)k;
  return -1;
}

static int run(const struct Call* call, const char* data) {
  struct Runtime rt = {lathe_parallel_for, lathe_alloc, lathe_free, 0, lathe_report};
  uint64_t slots[most_slots];
  if (call->count > most_slots) return printf("%s: too many slots\n", call->name), 1;
  for (int k = 0; k < call->count; ++k) {
    const struct Slot* slot = call->slots + k;
    slots[k] = slot->value;
    if (slot->kind == 0) continue;
    char* memory = room(slot->value, width_of(slot->nan));
    memcpy(memory, data + slot->before, slot->value);
    slots[k] = (uint64_t)memory;
  }
  const int32_t status = call->kernel(slots, &rt);
  if (status != 0) return printf("%s: status %d\n", call->name, status), 1;
  for (int k = 0; k < call->count; ++k) {
    const struct Slot* slot = call->slots + k;
    if (slot->kind != 2) continue;
    const int64_t at = difference((const char*)slots[k], data + slot->after, slot->value, slot->nan);
    if (at >= 0) return printf("%s: slot %d differs in byte %lld\n", call->name, k, (long long)at), 1;
  }
  return 0;
}

int main(int count, char** words) {
  FILE* file = count > 1 ? fopen(words[1], "rb") : 0;
  if (!file || fseek(file, 0, SEEK_END) != 0) return puts("no data.bin"), 2;
  const size_t size = (size_t)ftell(file);
  char* data = malloc(size + 1);
  rewind(file);
  if (fread(data, 1, size, file) != size) return puts("data.bin is not read"), 2;
  const int calls_count = (int)(sizeof calls / sizeof *calls);
  int failed = 0;
  for (int k = 0; k < calls_count; ++k) failed += run(calls + k, data);
  printf("%d kernels called, %d failed\n", calls_count, failed);
  return failed != 0;
}
