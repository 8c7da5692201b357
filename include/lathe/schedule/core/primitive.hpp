// Schedule primitives: a record with a name, parameters, and the function that checks and applies
// it.
#pragma once

#include <lathe/schedule/core/layout.hpp>
#include <lathe/schedule/core/refs.hpp>

namespace lathe {

/// The kinds of arguments and results. A word is one of a fixed set of names (a scope, a tail).
enum class ArgKind : std::uint8_t {
  none,
  loop,
  block,
  buffer,
  number,
  inferred,
  expr,
  text,
  word,
  map,
  list,
  sample,
  factor  ///< of a Parameter only: a number, infer or an expression
};

/// One argument or result of a primitive, as the trace records it.
struct Arg {
  ArgKind kind = ArgKind::none;
  std::int64_t number = 0;
  std::string text;  ///< a text, a word, or a buffer's name
  VarRef loop;       ///< a loop, or the symbol of a sampled number
  BlockTag block;
  AnyExpr expr;  ///< over dims and sampled numbers
  LayoutMap map;
  Vec<Arg> list;

  Arg() = default;
  Arg(LoopRef ref) : kind(ArgKind::loop), loop(std::move(ref.var)) {}
  Arg(BlockRef ref) : kind(ArgKind::block), block(std::move(ref.tag)) {}
  Arg(Sample ref) : kind(ArgKind::sample), loop(std::move(ref.var)) {}
  Arg(LayoutMap its_map) : kind(ArgKind::map), map(std::move(its_map)) {}
  static Arg of_number(std::int64_t value);
  static Arg of_text(std::string value);
  static Arg of_word(std::string_view value);
  static Arg of_buffer(std::string name);
  static Arg of_list(Vec<Arg> items);
  static Arg of(const Factor& factor);
  static Arg of(const AttrValue& value);
  static Arg of(const Vec<LoopRef>& loops);

  AttrValue attribute() const;  ///< of a number or a text
};
using Args = Vec<Arg>;

/// Why a step is not legal. Nothing was changed.
struct Refusal {
  std::string_view id;
  std::string message;  ///< without the primitive's name
  std::string details;  ///< lines that come before the program excerpt
  std::string help;
  VarRef loop;     ///< the place to underline: a loop
  BlockTag block;  ///< or a block
};
/// No value: legal.
using Verdict = std::optional<Refusal>;

/// A reference that a step used up, and how messages say it: "was split into io, ii".
struct Consumed {
  Ref<RefCounted> ref;
  std::string what;
};

/// What applying a step gives.
struct Edit {
  Program program;
  Args results;
  Vec<Consumed> consumed;
  Vec<std::int64_t> samples;  ///< the values of the results, if they are sampled numbers
  std::string
      reassociates;  ///< how floating-point results may change in rounding; empty: not at all
};

/// One parameter. A required one is an input of the trace entry; one with a default is written
/// name=value, and left out when it has that value.
struct Parameter {
  std::string_view name;
  ArgKind kind;                    ///< none: any; expr: a condition over Dims
  std::string_view fallback = {};  ///< the default as the trace's text writes it; empty: required
  ArgKind items = ArgKind::none;   ///< of a list
};

/// What a primitive's C++ method returns: an array, whose size may be a template argument (then the
/// parameter "n" is not passed), or one reference.
enum class Results : std::uint8_t { array, counted, one };

/// One primitive. run checks the arguments against the program; if they are legal and edit is
/// given, it also builds the new program. It changes nothing else and throws nothing.
struct Primitive {
  std::string_view name;
  int version = 1;
  Vec<Parameter> parameters;
  std::string_view summary;  ///< one line for docs and errors
  Verdict (*run)(const Program& program, const Args& args, Edit* edit);
  ArgKind gives = ArgKind::loop;  ///< what its results are
  Results results = Results::array;
  /// Of a sampling step, whose last argument is the decision: draws one for arguments that are
  /// legal without.
  Arg (*draw)(const Program& program, const Args& args, std::uint64_t random) = nullptr;
  bool query = false;  ///< changes nothing: a trace keeps it for what it gives alone
};

/// All primitives, by name.
const Vec<const Primitive*>& primitives();
const Primitive* find_primitive(std::string_view name);

}  // namespace lathe
