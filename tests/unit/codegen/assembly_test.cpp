// What tests tell from assembly.
#include "assembly.hpp"

#include <doctest/doctest.h>

namespace {

const std::string_view two_loops =
    "f:\n"
    "\tvmovaps\t%zmm1, (%rsp)\n"
    ".LBB0_1:\n"
    "\tvmovups\t64(%rsp), %zmm2\n"
    "\tvfmadd231ps\t128(%rsp), %zmm2, %zmm1\n"
    "\tmovq\t8(%rsp), %rax\n"
    "\tvbroadcastss\t4(%rdi), %zmm3\n"
    "\taddq\t$1, %rcx\n"
    "\tjne\t.LBB0_1\n"
    ".LBB0_2:\n"
    "\tvmovups\t%ymm1, -32(%rbp)\n"
    "\tjb\t.LBB0_2\n"
    "\tvmovaps\t(%rsp), %zmm1\n"
    "\tretq\n";

}  // namespace

TEST_CASE("innermost loops, and the one with the most instructions") {
  const auto loops = test::innermost_loops(two_loops);
  REQUIRE(loops.size() == 2);
  CHECK(test::count_of(loops[0], "\n") == 5);
  CHECK(test::count_of(loops[1], "\n") == 1);
  CHECK(test::innermost_loop(two_loops) == loops[0]);
  CHECK(test::innermost_loops("f:\n\tretq\n").empty());
}

TEST_CASE("stack moves are of vectors, and of %rbp where that is the frame's") {
  const auto loops = test::innermost_loops(two_loops);
  REQUIRE(loops.size() == 2);
  CHECK(test::stack_accesses(loops[0]) == 3);
  CHECK(test::stack_moves(loops[0]) == 2);
  CHECK(test::stack_moves(loops[1]) == 0);
  CHECK(test::stack_moves(loops[1], true) == 1);
  CHECK(test::stack_moves_in_loops(two_loops) == 2);
  CHECK(test::stack_moves_in_loops("f:\n\tmovq\t%rsp, %rbp\n" + std::string(two_loops)) == 3);
}
