#pragma once

#include <algorithm>
#include <cstring>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/jit/impl/compile_code.ipp>
#include <lathe/jit/late_code.hpp>
#include <lathe/jit/recipe_folder.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/runtime/orc.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// What a file says of a recipe.
struct RecipeFile {
  std::string text;  ///< RecipeFolder::text_of
  std::string symbol;
  ObjectId object;
  std::vector<std::string> messages, numerics;
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
  out.text(file.text), out.text(file.symbol);
  out.number(file.object.name), out.number(file.object.check);
  out.texts(file.messages), out.texts(file.numerics);
  return out.bytes();
}

inline bool read_recipe(const Vec<char>& bytes, RecipeFile& file) {
  RecipeReader in(bytes);
  file.text = in.text(), file.symbol = in.text();
  file.object.name = in.number(), file.object.check = in.number();
  file.messages = in.texts(), file.numerics = in.texts();
  return in.good();
}

inline bool uses_tiles(const KernelCode& code) {
  return code.target.has("amx-tile") && any_statement(code.scheduled->body, stores_tile);
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
             key.kind.checked ? "checked " : "", "math ", static_cast<int>(key.kind.math), "\n",
             key.program.str());
}

LATHE_DECL Ref<KernelRecipe> RecipeFolder::find(const RecipeKey& key, Location where) const {
  const std::string text = text_of(key);
  if (text.empty()) return {};
  const ObjectCache cache(context_.options().cache_dir);
  Vec<char> bytes;
  detail::RecipeFile file;
  if (!cache.find(text, bytes) || !detail::read_recipe(bytes, file) || file.text != text ||
      !cache.find(file.object, bytes))
    return {};
  auto* code = new KernelCode;
  const Ref<KernelCode> owner(code);
  code->target = key.target;
  code->kind = key.kind;
  code->llvm_major = key.llvm->major();
  code->numerics = std::move(file.numerics);
  code->text.symbol = file.symbol;
  code->text.slots = slot_layout(key.program);
  code->text.messages = file.messages;
  code->kept = file.object;
  code->origin = make_ref<LateCode>(context_, key.program, key.target, key.kind);
  const Stopwatch linking;
  try {
    code->loaded = Jit::of(context_, where).load(bytes, file.symbol);
  } catch (const InternalError&) {
    return {};  // no object of this symbol, or not that of other code
  }
  detail::log_time(context_, "link", linking);
  code->entry = code->loaded->entry();
  auto* recipe = new KernelRecipe(key);
  Ref<KernelRecipe> out(recipe);
  recipe->code = owner;
  recipe->described = key.program;
  return out;
}

LATHE_DECL void RecipeFolder::keep(const KernelRecipe& recipe) const {
  const KernelCode& code = *recipe.code;
  if (code.kept == ObjectId() || !recipe.once.empty() || detail::uses_tiles(code) ||
      !(code.target == recipe.key.target))
    return;
  const std::string text = text_of(recipe.key);
  if (text.empty()) return;
  const detail::RecipeFile file{text, code.text.symbol, code.kept, code.text.messages,
                                code.numerics};
  // A folder that can't be written has been complained of when the object came.
  std::string reason;
  ObjectCache(context_.options().cache_dir).keep(text, detail::written(file), reason);
}

}  // namespace lathe
