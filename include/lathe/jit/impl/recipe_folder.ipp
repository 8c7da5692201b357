#pragma once

#include <algorithm>
#include <cstring>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/jit/impl/compile_code.ipp>
#include <lathe/jit/impl/jit.ipp>
#include <lathe/jit/late_code.hpp>
#include <lathe/jit/recipe_folder.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/runtime/orc.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

struct CodeFile {
  std::string symbol;
  ObjectId object;
  std::vector<std::string> messages, numerics;
};
struct PartFile {
  std::string program;
  Vec<int> inputs, outputs;
  CodeFile code;
};
/// What a file says of a recipe.
struct RecipeFile {
  std::string text;  ///< RecipeFolder::text_of
  CodeFile code;
  std::string described;  ///< none: the key's program, where nothing runs once
  Vec<int> unread;
  std::vector<PartFile> once;
};

class RecipeWriter {
 public:
  void number(std::uint64_t value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    out_.append(bytes, bytes + sizeof value);
  }
  void text(std::string_view value) {
    number(value.size());
    out_.append(value.begin(), value.end());
  }
  template <class List>
  void texts(const List& all) {
    number(all.size());
    for (const auto& one : all) text(one);
  }
  void indices(const Vec<int>& all) {
    number(all.size());
    for (const int one : all) number(static_cast<std::uint64_t>(one));
  }
  void code(const CodeFile& file) {
    text(file.symbol), number(file.object.name), number(file.object.check);
    texts(file.messages), texts(file.numerics);
  }
  const Vec<char>& bytes() const { return out_; }

 private:
  Vec<char> out_;
};

/// Reads nothing past the end, where everything is 0 or empty and good() is false.
class RecipeReader {
 public:
  explicit RecipeReader(const Vec<char>& bytes) : rest_(bytes.data(), bytes.size()) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (const char* bytes = take(sizeof value)) std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    const char* bytes = take(size);
    return bytes ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
  }
  std::vector<std::string> texts() {
    std::vector<std::string> out;
    for (std::uint64_t left = number(); left > 0 && good_; --left) out.push_back(text());
    return out;
  }
  Vec<int> indices() {
    Vec<int> out;
    for (std::uint64_t left = number(); left > 0 && good_; --left)
      out.push_back(static_cast<int>(number()));
    return out;
  }
  CodeFile code() {
    CodeFile file;
    file.symbol = text(), file.object.name = number(), file.object.check = number();
    file.messages = texts(), file.numerics = texts();
    return file;
  }
  bool more() const { return good_ && !rest_.empty(); }
  /// All was read, and nothing is left.
  bool good() const { return good_ && rest_.empty(); }

 private:
  const char* take(std::uint64_t size) {
    good_ = good_ && size <= rest_.size();
    if (!good_) return nullptr;
    const char* bytes = rest_.data();
    rest_.remove_prefix(static_cast<std::size_t>(size));
    return bytes;
  }

  std::string_view rest_;
  bool good_ = true;
};

inline Vec<char> written(const RecipeFile& file) {
  RecipeWriter out;
  out.text(file.text), out.code(file.code), out.text(file.described), out.indices(file.unread);
  for (const PartFile& part : file.once) {
    out.text(part.program), out.indices(part.inputs), out.indices(part.outputs);
    out.code(part.code);
  }
  return out.bytes();
}

inline bool read_recipe(const Vec<char>& bytes, RecipeFile& file) {
  RecipeReader in(bytes);
  file.text = in.text(), file.code = in.code(), file.described = in.text();
  file.unread = in.indices();
  while (in.more()) {
    PartFile part;
    part.program = in.text(), part.inputs = in.indices(), part.outputs = in.indices();
    part.code = in.code();
    file.once.push_back(std::move(part));
  }
  return in.good();
}

/// Nothing that a process has to be granted, and its object is in the folder.
inline bool can_be_kept(const KernelCode& code, const Target& target) {
  const bool tiles =
      code.target.has("amx-tile") && any_statement(code.scheduled->body, stores_tile);
  return !(code.kept == ObjectId()) && code.target == target && !tiles;
}

inline CodeFile file_of(const KernelCode& code) {
  return {code.text.symbol, code.kept, code.text.messages, code.numerics};
}

/// Code of `called`, which was planned from `program`. None: no object has this symbol, or that of
/// other code.
inline Ref<KernelCode> loaded_code(const CodeFile& file, const Program& called,
                                   const Program& program, const RecipeKey& key,
                                   const Context& context) {
  Vec<char> object;
  if (!ObjectCache(context.options().cache_dir).find(file.object, object)) return {};
  auto* code = new KernelCode;
  Ref<KernelCode> out(code);
  code->target = key.target;
  code->kind = key.kind;
  code->llvm_major = key.llvm->major();
  code->numerics = file.numerics;
  code->text.symbol = file.symbol;
  code->text.slots = slot_layout(called);
  code->text.messages = file.messages;
  code->kept = file.object;
  code->origin = make_ref<LateCode>(context, program, key.target, key.kind);
  const Stopwatch linking;
  const Jit& jit = Jit::of(context);
  try {
    code->loaded = jit.load(object, file.symbol);
  } catch (const InternalError&) {
    return {};
  }
  log_time(context, "link", linking);
  code->entry = code->loaded->entry();
  return out;
}

inline Program parsed(const std::string& text) {
  try {
    return parse(text);
  } catch (const UserError&) {
    return {};
  }
}

}  // namespace detail

LATHE_DECL RecipeFolder::RecipeFolder(const Context& context, std::string build)
    : context_(context), build_(std::move(build)) {}

LATHE_DECL std::string RecipeFolder::text_of(const RecipeKey& key) const {
  // Code for any strides, which Strides::both has ahead, is no part of what is kept.
  if (context_.options().cache_dir.empty() || build_.empty() || key.strides == Strides::both)
    return {};
  return cat("recipe\n", LATHE_VERSION_STRING, "\n", build_, "\n", key.llvm->version(), "\n",
             key.target.str(), "\n", key.kind.strict ? "strict " : "",
             key.kind.checked ? "checked " : "",
             context_.options().tile_registers ? "" : "without tiles ", "math ",
             static_cast<int>(key.kind.math), "\n", key.program.str());
}

LATHE_DECL Ref<KernelRecipe> RecipeFolder::find(const RecipeKey& key, const Source& source) const {
  const std::string text = text_of(key);
  Vec<char> bytes;
  detail::RecipeFile file;
  if (text.empty() || !context_.options().dump.empty() ||
      !ObjectCache(context_.options().cache_dir).find(text, bytes) ||
      !detail::read_recipe(bytes, file) || file.text != text)
    return {};
  auto* recipe = new KernelRecipe(key);
  Ref<KernelRecipe> out(recipe);
  recipe->described = file.described.empty() ? key.program : detail::parsed(file.described);
  if (!recipe->described) return {};
  recipe->code = detail::loaded_code(file.code, recipe->described, key.program, key, context_);
  if (!recipe->code) return {};
  for (const detail::PartFile& part : file.once) {
    const OncePart once{detail::parsed(part.program), part.inputs, part.outputs};
    if (!once.program) return {};
    KernelRecipe own(key);
    own.described = once.program;
    own.code = detail::loaded_code(part.code, once.program, once.program, key, context_);
    if (!own.code) return {};
    recipe->once.push_back(detail::once_run(once, own, context_, source.options()));
  }
  recipe->unread = file.unread;
  return out;
}

LATHE_DECL void RecipeFolder::keep(const KernelRecipe& recipe) const {
  const RecipeKey& key = recipe.key;
  detail::RecipeFile file{text_of(key), detail::file_of(*recipe.code), {}, recipe.unread, {}};
  if (file.text.empty() || !detail::can_be_kept(*recipe.code, key.target)) return;
  if (!recipe.once.empty()) file.described = recipe.described.str();
  for (const OnceRun& what : recipe.once) {
    const Ref<KernelCode> code = what.kernel.code();
    if (!detail::can_be_kept(*code, key.target)) return;
    const OncePart& part = what.part;
    file.once.push_back({part.program.str(), part.inputs, part.outputs, detail::file_of(*code)});
  }
  // A folder that can't be written has been complained of when the object came.
  std::string reason;
  ObjectCache(context_.options().cache_dir).keep(file.text, detail::written(file), reason);
}

}  // namespace lathe
