// Recipes in a context's cache folder: what a later process needs to run a program that it has not
// planned.
#pragma once

#include <lathe/jit/recipe_cache.hpp>
#include <lathe/runtime/object_cache.hpp>
#include <string>

namespace lathe {

/// One file a program (ObjectCache), named by what decides its code: Lathe's build, LLVM's version,
/// the target, options, and the program before planning, all as text, which the file repeats and
/// which is compared. It names the object and holds what calls need besides; the rest of a
/// KernelCode is made when somebody asks (LateCode). Not kept are recipes with code for any strides
/// ahead, and of tile registers, which a process has to be granted.
class RecipeFolder {
 public:
  /// Without a folder or an id of the build nothing is found or kept: other planners may plan
  /// otherwise.
  RecipeFolder(const Context& context, std::string build);

  /// None if there is no whole file, or an object is gone; nor where the context dumps passes,
  /// which then have to run. `source`: who asks.
  Ref<KernelRecipe> find(const RecipeKey& key, const Source& source) const;
  /// What can be kept of it, under its key.
  void keep(const KernelRecipe& recipe) const;
  /// What names the file; empty: there is none.
  std::string text_of(const RecipeKey& key) const;

 private:
  const Context& context_;
  std::string build_;
};

}  // namespace lathe
