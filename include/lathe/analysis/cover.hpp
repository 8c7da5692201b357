// Proofs that what a consumer reads was produced, and finished, by its producers in one iteration
// of a loop.
#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/analysis/region.hpp>
#include <string>

namespace lathe {

struct Cover {
  bool covered = false;  ///< proven: reads lie in what was written, final, in its last version
  std::string why;       ///< if not
};

namespace detail {

/// What was found out about one buffer. Questions that follow each other, about several consumers
/// and the loops around them, gather accesses once and prove each cover once; the buffer, the facts
/// and, but for consumers that differ, the root must be the same.
class KnownCovers {
 public:
  const Vec<AccessSite>& accesses_below(const Stmt& body, const Buffer& buffer, const Facts& facts);
  const Cover* find(const Stmt& body, const Vec<BlockTag>& producers, const BlockTag& consumer);
  const Cover& keep(const Stmt& body, const Vec<BlockTag>& producers, const BlockTag& consumer,
                    Cover cover);

 private:
  struct Answer {
    Stmt body;
    Vec<BlockTag> producers;
    BlockTag consumer;
    Cover cover;
  };
  Stmt body_;
  Vec<AccessSite> accesses_;
  Vec<Answer> answers_;
};

}  // namespace detail

/// The reads of `buffer` below consumer against the writes below the producers, with the loops
/// outside `loop` and `loop` itself fixed (an empty loop: the whole root). Producers must come
/// before the consumer in program order.
Cover covers(const Stmt& root, const Vec<BlockTag>& producers, const BlockTag& consumer,
             const Buffer& buffer, const VarRef& loop, const Facts& facts = {},
             detail::KnownCovers* known = nullptr);
/// At the lowest loop that is common to producer and consumer.
Cover covers(const Stmt& root, const BlockTag& producer, const BlockTag& consumer,
             const Buffer& buffer, const Facts& facts = {});

/// One iteration of `loop` finishes elements: no loop at or outside of it (within root) feeds a
/// reduce iterator of the block, nor, for an update without init, reaches an element again.
bool final_at(const Stmt& root, const BlockTag& block, const VarRef& loop);

}  // namespace lathe
