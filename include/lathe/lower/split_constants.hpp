// What a program computes of constants alone, apart from the rest.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe {

/// Statements that have to run once only, as a program.
struct OncePart {
  Program program;   ///< its parameters: constants as inputs, then temporaries as outputs
  Vec<int> inputs;   ///< which parameters of the rest its inputs are
  Vec<int> outputs;  ///< which parameters of the rest its outputs are
};

struct SplitProgram {
  /// Without those statements. What they store are constants that it owns, behind its parameters.
  Program rest;
  Vec<OncePart> once;
};

/// Which results are kept.
enum class Keep : std::uint8_t {
  all,       ///< whoever scheduled the program wants them
  no_larger  ///< those that need no more memory than the constants that they are made of
};

/// Takes apart a program at Stage::blocks:
///     alloc P: f32[2, 64, 32]                    program p_once(in W, out P):
///     for …: block P: P[…] = W[…]           →      for …: block P: P[…] = W[…]
///     for …: block C: C[…] sum= A[…] * P[…]      program p(…, constant W, constant P):
///                                                  for …: block C: C[…] sum= A[…] * P[…]
/// Statements outside of all loops move that name no Dim, no scalar and no other memory than
/// constants and temporaries of known size which such statements alone store to; those that
/// something else reads, after the last store, are dense and global. Those that share temporaries
/// are one part.
SplitProgram split_constants(const Program& program, Keep keep = Keep::all);

/// Of a buffer whose extents are numbers.
std::size_t known_bytes(const BufferNode& b);

}  // namespace lathe
