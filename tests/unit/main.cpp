#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "support/root.hpp"

std::filesystem::path test::root() { return LATHE_TEST_DIR; }
