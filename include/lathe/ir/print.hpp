// The text form of programs: its grammar, and the printer.
//
//   program   := "program" name [ "<" dim, … ">" ] "(" param, … ")" [ "scheduled" | "stage" stage ]
//   ":" body
//   dim       := name [ "in" min ".." [ "=" max ] [ "by" multiple ] ]
//   param     := [ "in" | "in" "constant" | "out" | "inout" ] name ":" ( type | buffer )
//                a bare type is a scalar, by value
//              | "constant" name ":" buffer [ "hash" string ]
//                no argument of calls; without a hash, any elements
//   buffer    := type "[" expr, … "]" [ "strides" "[" expr, … "]" ] [ "scope" scope ]
//                [ "tile" number ] [ "align" bytes ] { "aligned" "[" dim, factor, offset "]" }
//   body      := statements on lines of their own, indented further than what they belong to;
//                "pass" is none
//   statement := [ kind ] "for" name "in" range { "@" key "=" value } ":" body
//              | "block" name "(" iter, … ")" { clause } ":" body
//              | "alloc" name ":" buffer [ ":" body ]       no body: the rest of the body around
//              | "let" name "=" expr [ ":" body ]           the same
//              | [ "stream" | "stream_lines" ] name "[" expr, … [ "where" mask ] "]" [ reducer ]
//                "=" expr
//              | "atomic" name "[" expr, … "]" op "=" expr
//              | "if" expr ":" body [ "else" ":" body ]
//              | "while" expr ":" body
//              | "assert" expr "," string [ "%" "(" expr { "," expr } ")" ]
//              | "eval" expr
//              | "pass"
//              | "reducer" [ "nonassociative" ] [ "noncommutative" ] name
//                "(" name ":" type "=" identity, … ";" name, … ")" "=" expr, …
//                before the blocks that name it
//   kind      := "parallel" | "vectorized" | "unrolled" | axis
//   axis      := ( "blockIdx" | "threadIdx" ) "." ( "x" | "y" | "z" )
//   iter      := [ "reduce" | "opaque" ] name "in" range "=" binding
//   clause    := "where" expr | "reduce" reducer [ "init" ] | "reads" region, …
//              | "writes" region, … | "@" key "=" value
//   region    := name "[" range, … "]"
//   range     := min ".." end | min "..+" extent
//   expr      := literals, names, name "[" expr, … [ "where" mask ] "]",
//                C's operators with C's precedence (but comparisons do not chain),
//                op "(" expr, … ")" for the operators that are words, type "(" expr ")" to cast,
//                "reinterpret" "<" type ">" "(" expr ")", "select" "(" condition, yes, no ")",
//                "ramp" "(" base, stride, lanes ")", "broadcast" "(" expr, lanes ")",
//                "shuffle" "(" expr, … ";" lane, … ")", "(" "let" name "=" expr "in" expr ")"
//
// * A literal is an i64 or an f32 ("3", "1.5", "inf", "nan"); others carry their type: 3u8, 1.5f64,
//   f64.inf, f64.nan. "-3" is a constant and "-(3)" a negation. nan(0x7ff8000000000001) gives the
//   bits (of an f64) of an unusual NaN.
// * A name is letters, digits, "_" and inner "."; any other one, and a keyword, stands between
//   backticks. Printed names are unique among what is visible: a second i is i_1. A block sees the
//   iterators and lets of itself and of the blocks around it, but no loop variable around it, so an
//   iterator may bear a loop's name.
// * A bare unknown name in a parameter's strides declares it: the stride that the caller's view
//   has.
// * The reducers sum, prod, min, max, any, all, argmax and argmin need no definition (see
//   reducer.hpp).
// * "#" begins a comment; lines may break inside brackets.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/vec.hpp>
#include <string>

namespace lathe {

/// The text form; parse() gives a structurally equal program, whose text is the same.
/// What is not a program may name variables and buffers that it does not bind.
std::string str(const Program& program);
std::string str(const Stmt& stmt);
std::string str(const AnyExpr& expr);

/// Where a statement stands in a text. Lines and columns count from 1; columns and length are in
/// bytes.
struct TextPlace {
  const RefCounted*
      node;  ///< the statement; a loop's variable and a block's tag have a place as well
  int line, column, length;
};

/// The text, and the place of every statement, loop variable and block tag (of the first one, where
/// a node is shared).
struct PrintedText {
  std::string text;
  Vec<TextPlace> places;

  const TextPlace* find(const RefCounted* node) const;
};
PrintedText print(const Program& program);

/// The lines around a loop, a block or any statement of the program, with '^' under its name; the
/// loops that enclose it come first, and "..." stands for what is left out. Empty if the program
/// does not hold it. No line is indented more than needed; the text ends with a newline.
std::string excerpt(const Program& program, const VarRef& loop);
std::string excerpt(const Program& program, const BlockTag& block);
std::string excerpt(const Program& program, const Stmt& stmt);

}  // namespace lathe
