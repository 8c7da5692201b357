// Register tiles of a product: a space of shapes that fit the registers of a machine, and what the
// loop over k becomes of one.
#pragma once

#include <cstddef>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <string>
#include <vector>

#include "../unit/codegen/assembly.hpp"

namespace test {

namespace lt = lathe;

struct RegisterTile {
  const char* machine;
  bool wide;  ///< f64, else f32
  int rows, vectors, unroll;

  int multiplications() const { return rows * vectors * unroll; }
  std::string name() const {
    return std::string(machine) + (wide ? " f64 " : " f32 ") + std::to_string(rows) + "x" +
           std::to_string(vectors) + " k by " + std::to_string(unroll);
  }
};

/// Tiles that fit, and that LLVM 16 to 22 spill all the same. In a tile of one vector a broadcast
/// is used once; where it and the accumulator both end at the multiplication, LLVM puts the result
/// in the broadcast's register, also where the next step is written out, so that accumulators
/// wander and have to be moved back (TwoAddressInstructionPass). With 32 registers the broadcast is
/// an operand in memory, which leaves no choice; one of 14 x 2 spills there too, nobody knows why.
inline bool spills_in_llvm(const RegisterTile& tile) {
  const int registers = lt::Target(tile.machine).vector_registers;
  if (registers == 16) return tile.vectors == 1 && tile.rows >= 8 && tile.unroll >= 2;
  return !tile.wide && tile.rows == 14 && tile.vectors == 2 && tile.unroll == 2;
}

/// All whose accumulators, a row of one operand and an element of the other fit the registers, with
/// up to 200 multiplications.
inline std::vector<RegisterTile> register_tiles() {
  std::vector<RegisterTile> all;
  for (const char* machine : {"znver4", "x86-64-v3"})
    for (const bool wide : {false, true})
      for (int rows = 1; rows <= 28; ++rows)
        for (int vectors = 1; vectors <= 4; ++vectors)
          for (const int unroll : {1, 2, 4, 8}) {
            const RegisterTile tile{machine, wide, rows, vectors, unroll};
            const bool fits = rows * vectors + vectors + 1 <= lt::Target(machine).vector_registers;
            if (fits && tile.multiplications() <= 200) all.push_back(tile);
          }
  return all;
}

template <class T>
lt::Program tile_program(const RegisterTile& tile, const lt::Target& target) {
  const int columns = tile.vectors * target.lanes(sizeof(T));
  const int m = 4 * tile.rows, n = 4 * columns, k = 64;
  lt::Input<T, 2> A("A", {m, k}), B("B", {k, n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  lt::Schedule s(C);
  auto [i, j, q] = s.template loops<3>(C);
  auto [io, ii] = s.template split<2>(i, {lt::infer, tile.rows});
  auto [jo, ji] = s.template split<2>(j, {lt::infer, columns});
  auto [qo, qi] = s.template split<2>(q, {lt::infer, tile.unroll});
  s.reorder({io, jo, qo, qi, ii, ji});
  const lt::BlockRef store = s.cache_write(C, lt::Scope::local);
  s.reverse_compute_at(store, jo);
  const lt::BlockRef init = s.decompose_reduction(C, qo);
  s.unroll(qi), s.unroll(ii), s.vectorize(ji);
  for (const lt::BlockRef& block : {init, store}) {
    const auto loops = s.loops(block);
    s.vectorize(loops.back());
    s.unroll(loops[loops.size() - 2]);
  }
  return lt::lower(s.program(), target, {.dense = true});
}

/// Assembly of the tile, for its machine.
inline std::string assembly_of(const RegisterTile& tile, const lt::Llvm& llvm) {
  const lt::Target target(tile.machine);
  const lt::Program lowered =
      tile.wide ? tile_program<double>(tile, target) : tile_program<float>(tile, target);
  return lt::compile_to_assembly(llvm, lt::emit_llvm(lowered, target, llvm.major()).text, target);
}

/// How often the loop over k moves a vector to or from the stack; `found`: that it has all
/// multiplications.
struct TileLoop {
  std::size_t moves = 0;
  bool found = false;
};
inline TileLoop loop_of(const RegisterTile& tile, const lt::Llvm& llvm) {
  const std::string assembly = assembly_of(tile, llvm);
  const std::size_t multiplications = count_of(innermost_loop(assembly), "vfmadd");
  return {stack_moves_in_loops(assembly),
          multiplications == static_cast<std::size_t>(tile.multiplications())};
}

}  // namespace test
