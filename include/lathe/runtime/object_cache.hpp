// Compiled objects in a folder, for later processes.
#pragma once

#include <lathe/runtime/llvm.hpp>
#include <lathe/support/kernel.hpp>
#include <lathe/support/target.hpp>
#include <lathe/support/vec.hpp>
#include <string>
#include <string_view>

namespace lathe {

/// One file an object, named by a hash of everything that decides its bytes: Lathe's and LLVM's
/// versions, the target, and the text. Files appear whole (written aside, then renamed) and carry a
/// checksum: a damaged or foreign one is ignored, and replaced by the next that is kept. What is in
/// the folder runs in this process, so only its user should be able to write there.
class ObjectCache {
 public:
  /// An empty folder name: nothing is found or kept. The last part of the path is made if it isn't
  /// there.
  explicit ObjectCache(std::string folder) : folder_(std::move(folder)) {}

  static std::string key(const Llvm& llvm, const Target& target, std::string_view text);
  static ObjectId id(std::string_view key);

  /// False if no whole file has this key.
  bool find(std::string_view key, Vec<char>& object) const { return find(id(key), object); }
  bool find(const ObjectId& id, Vec<char>& object) const;
  /// False if the folder can't be written, and why.
  bool keep(std::string_view key, const Vec<char>& object, std::string& reason) const;
  /// Where the object with this key is.
  std::string path(std::string_view key) const { return path(id(key)); }

 private:
  std::string path(const ObjectId& id) const;
  std::string folder_;
};

}  // namespace lathe
