// What occurs in a statement, in a few words that are kept with it: who looks for one block, loop
// or buffer passes over the statements that do not hold it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace lathe {

struct StmtNode;
class Stmt;

namespace detail {

/// Sets of names as bits of their hashes: a bit that is missing says that the name does not occur.
struct Contents {
  std::uint64_t blocks = 0;   ///< by name
  std::uint64_t loops = 0;    ///< by variable
  std::uint64_t buffers = 0;  ///< by name: loads, stores, allocs and declared regions
  bool allocs = false;        ///< some buffer is allocated
  bool inits = false;         ///< some block sets an identity first
  bool promises = false;      ///< some loop is not serial
  bool axes = false;          ///< some loop is bound
  bool marks = false;         ///< some loop carries an annotation that is a text

  static std::uint64_t bit(const std::string& name);
  static std::uint64_t bit(const void* node);
  void add(const Contents& other);
};

/// The contents of one node. Nodes do not change once they are shared, copies may: a copy starts
/// anew. Threads that come at once find the same.
class ContentsMemo {
 public:
  ContentsMemo() = default;
  ContentsMemo(const ContentsMemo&) noexcept {}
  ContentsMemo& operator=(const ContentsMemo&) = delete;

  /// False: not known yet.
  bool get(Contents& out) const;
  void set(const Contents& contents) const;

 private:
  mutable std::atomic<std::uint64_t> blocks_{0}, loops_{0}, buffers_{0};
  mutable std::atomic<std::uint32_t> flags_{0};  ///< written last
};

/// Of a statement that holds others in its body; what is a list of statements, or a simple one, has
/// none, and may hold anything.
bool has_contents(const Stmt& s);
Contents contents_of(const Stmt& s);

/// All that a search needs to ask: whether it has to enter a statement.
bool may_hold_block(const Stmt& s, std::uint64_t bit);
bool may_hold_loop(const Stmt& s, std::uint64_t bit);
bool may_touch(const Stmt& s, std::uint64_t bits);

}  // namespace detail
}  // namespace lathe
