// Golden texts: compares a text with the file tests/golden/<name>.txt (or another extension).
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "root.hpp"

namespace test {

/// With LATHE_UPDATE_GOLDEN=1 in the environment the file is written instead of compared; read the
/// diff before it is committed. A missing file is a failure.
inline void check_golden(const std::string& name, const std::string& text,
                         const std::string& extension = ".txt") {
  std::filesystem::path path = root() / "golden" / (name + extension);
  if (const char* update = std::getenv("LATHE_UPDATE_GOLDEN");
      update && std::string(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::ifstream in(path);
  std::string expected((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  INFO("golden file: ", path.string(), " (LATHE_UPDATE_GOLDEN=1 writes it)");
  CHECK(text == expected);
}

}  // namespace test
