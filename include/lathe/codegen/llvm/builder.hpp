// LLVM IR as text: typed values, one function, one module.
#pragma once

#include <initializer_list>
#include <lathe/ir/dtype.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/target_caps.hpp>
#include <lathe/support/text.hpp>
#include <lathe/support/vec.hpp>
#include <string>
#include <string_view>

namespace lathe::detail {

/// An SSA value or a constant, as text, with the type that it has in LLVM's eyes.
struct LlvmValue {
  DType dtype;
  std::string text;

  bool is_const() const { return !text.empty() && text[0] != '%'; }
};

/// "float", "<16 x i32>"; signed and unsigned integers are one type, bool is i1.
std::string llvm_type(DType t);
/// The type in memory: as above, but a bool is an i8.
DType memory_type(DType t);
/// "v16f32", "i64": how intrinsics name their overloads.
std::string llvm_mangled(DType t);
/// A constant of that type, splatted over its lanes.
LlvmValue llvm_int(DType t, std::int64_t value, int llvm_major);
LlvmValue llvm_float(DType t, double value, int llvm_major);
LlvmValue llvm_zero(DType t);

/// What a call of an intrinsic needs: LLVM aborts if a feature is missing.
struct LlvmIntrinsic {
  std::string_view name;
  std::string_view feature;  ///< empty: none
  int since;                 ///< first LLVM major that has it with this signature
};
/// The row of an intrinsic named without "llvm." and without overload suffix; null if it has none.
const LlvmIntrinsic* find_llvm_intrinsic(std::string_view name);

/// One module: declarations, metadata and finished functions.
class LlvmModule {
 public:
  LlvmModule(const Target& its_target, int llvm_major)
      : target(its_target), caps(its_target), major(llvm_major) {}

  const Target& target;
  const TargetCaps caps;
  const int major;

  /// True if the intrinsic can be used here.
  bool can(std::string_view intrinsic) const;
  /// Declares once: "declare <type> @<name>(<params>)".
  void declare(std::string_view type, std::string_view name, std::string_view params);
  /// The same for a function that the runtime must provide.
  void declare_external(std::string_view type, std::string_view name, std::string_view params);
  void external(std::string_view name);
  /// A new metadata node's number; loops get a distinct one each.
  int loop_metadata();
  /// A buffer's alias scope, 0 if there are too many: each scope lists all others. Accesses of
  /// different scopes never overlap.
  int alias_scope(std::string_view name);
  /// ", !alias.scope !4, !noalias !5" for accesses of the scope, or nothing.
  std::string alias_tags(int scope) const;

  void add_function(std::string text) { functions_ += text; }
  /// Whether a function of the module's own has yet to be added.
  bool is_first_use(std::string_view name) { return declared_.insert(std::string(name)).second; }
  /// The module's text.
  std::string finish();

  Vec<std::string> externals;

 private:
  std::string functions_, declarations_, metadata_;
  NameSet declared_;
  Vec<int> scopes_;
  int next_metadata_ = 8;
};

/// One function under construction: instructions are appended to the current block.
class LlvmFunction {
 public:
  explicit LlvmFunction(LlvmModule& its_module) : module(its_module) { code_.reserve(1 << 14); }

  LlvmModule& module;

  /// "  <parts>\n"
  template <class... Parts>
  void line(const Parts&... parts) {
    write_line({TextPiece(parts)...});
  }
  /// "  %tN = <parts>\n"; gives the value. Within a block, an instruction that was written before
  /// gives that value again: loops unrolled into a thousand accesses share their address
  /// arithmetic, and LLVM reads a third of the text.
  template <class... Parts>
  LlvmValue op(DType type, const Parts&... parts) {
    return {type, write_op({TextPiece(parts)...})};
  }
  /// "%<prefix>N", new in this function.
  std::string fresh(std::string_view prefix);
  /// A new block's name, without '%'.
  std::string block(std::string_view name) { return fresh(name); }

  /// Ends the current block and starts another.
  void start(const std::string& label);
  void jump(const std::string& label);
  void branch(const LlvmValue& condition, const std::string& yes, const std::string& no,
              std::string_view metadata = {});
  /// Whether the current block has ended without another having been started.
  bool ended() const { return ended_; }
  void end() { ended_ = true; }
  const std::string& current() const { return current_; }

  LlvmValue binary(std::string_view opcode, const LlvmValue& a, const LlvmValue& b);
  LlvmValue compare(std::string_view opcode, const LlvmValue& a, const LlvmValue& b);
  LlvmValue convert(std::string_view opcode, const LlvmValue& a, DType to);
  LlvmValue select(const LlvmValue& condition, const LlvmValue& yes, const LlvmValue& no);
  LlvmValue splat(const LlvmValue& scalar, int lanes);
  /// Lanes of a followed by those of b.
  LlvmValue concat(const LlvmValue& a, const LlvmValue& b);
  LlvmValue shuffle(const LlvmValue& vector, const Vec<int>& lanes);
  LlvmValue shuffle(const LlvmValue& a, const LlvmValue& b,
                    const Vec<int>& lanes);  ///< of one type
  LlvmValue extract(const LlvmValue& vector, int lane);
  LlvmValue insert(const LlvmValue& vector, const LlvmValue& scalar, int lane);
  /// llvm.<name>.<overload>(args…), where the result and all arguments have the first one's type.
  LlvmValue intrinsic(std::string_view name, const Vec<LlvmValue>& args);
  LlvmValue any(const LlvmValue& mask);  ///< whether a lane is set
  LlvmValue phi(const LlvmValue& a, const std::string& from_a, const LlvmValue& b,
                const std::string& from_b);
  LlvmValue integer(DType t, std::int64_t value) { return llvm_int(t, value, module.major); }
  LlvmValue real(DType t, double value) { return llvm_float(t, value, module.major); }

  /// A place in the entry block's frame; gives the pointer.
  std::string frame(std::string_view type, int alignment);
  void frame_named(std::string_view name, std::string_view type, int alignment);

  /// The function's text, with the frame's allocas in front of the code.
  std::string finish(std::string_view head);

 private:
  void write_line(std::initializer_list<TextPiece> parts);
  std::string write_op(std::initializer_list<TextPiece> parts);

  std::string code_, frame_;
  NameMap<std::string> known_;  ///< pure instructions of this block
  NameMap<std::string> loads_;  ///< loads since the last write to a buffer
  std::string current_ = "entry";
  int next_ = 0;
  bool ended_ = false;
};

}  // namespace lathe::detail
