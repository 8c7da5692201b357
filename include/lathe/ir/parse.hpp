// The parser of the text form (the grammar is at the top of print.hpp).
#pragma once

#include <lathe/ir/stmt.hpp>
#include <string_view>

namespace lathe {

/// The program that a text describes; structurally equal to the one that was printed.
/// Any bytes give a program that holds verify()'s rules, or a UserError with line and column:
///   L0501 not the grammar · L0502 a name that is unknown, hidden or taken · L0503 types that do
///   not agree L0504 a literal that is no number or does not fit · L0505 too long or nested too
///   deeply (16 MiB, 200 levels of brackets and bodies, 2000 of operators or lets) · L0506 a rule
///   of the program's stage
/// Constants that the text names by their hashes have no elements: the program can be printed,
/// compared and scheduled, and is refused where it would run (L0317).
Program parse(std::string_view text, Location where = Location::here());

/// Gives the elements of a constant by its name and hash (lt::Constant::content has some), or none.
using ConstantLookup = FunctionRef<ConstantRef(std::string_view name, const ContentHash& hash)>;
/// The same, with the elements of its constants. L0508 none, or of another hash
Program parse(std::string_view text, ConstantLookup constants, Location where = Location::here());

}  // namespace lathe
