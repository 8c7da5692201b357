#include "root.hpp"

std::filesystem::path test::root() { return LATHE_TEST_DIR; }
