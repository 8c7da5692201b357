// Feeds bytes to the parser: clang++ -fsanitize=fuzzer,address,undefined (libFuzzer has main), or
// with -DLATHE_FUZZ_MAIN a program that reads one file per argument. Any bytes give a program that
// prints, parses back and prints the same, or a UserError.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    std::string text = lathe::parse({reinterpret_cast<const char*>(data), size}).str();
    lathe::Program again = lathe::parse(text);
    if (again.str() != text) std::abort();
  } catch (const lathe::UserError& error) {
    if (error.id().substr(0, 3) != "L05") std::abort();
  }
  return 0;
}

#if defined(LATHE_FUZZ_MAIN)
int main(int count, char** names) {
  for (int k = 1; k < count; ++k) {
    std::ifstream in(names[k], std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}
#endif
