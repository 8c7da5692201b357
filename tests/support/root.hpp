// Where the tests' own files are.
#pragma once

#include <filesystem>

namespace test {

/// The folder tests/ of the source tree: root.cpp alone has its name compiled in, so all other
/// objects are the same in each copy of the tree.
std::filesystem::path root();

}  // namespace test
