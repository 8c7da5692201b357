// Random arguments of steps that mark loops and blocks.
#pragma once

#include <string>
#include <vector>

#include "storage_arguments.hpp"

namespace fuzz {

class MarkArguments : protected StorageArguments {
 protected:
  using StorageArguments::StorageArguments;

  Args prefetch(const Schedule& s) {
    return {some_buffer(s), some_loop(s), Arg::of_number(1 + random_.below(4)),
            Arg::of_number(random_.below(4))};
  }
  /// What a loop or a block carries, whether it can be taken off or not.
  Args unannotate(const lathe::Schedule& s) {
    std::vector<Args> candidates;
    lathe::each_statement(s.program()->body, [&](const lathe::Stmt& below) {
      const auto* f = below.as<lathe::ForNode>();
      const auto* b = below.as<lathe::BlockNode>();
      if (!f && !b) return;
      for (const auto& a : f ? f->attributes : b->attributes)
        candidates.push_back({f ? Arg(LoopRef(f->var)) : Arg(BlockRef(b->tag)),
                              Arg::of_text(std::string(key_of(a)))});
    });
    if (candidates.empty() && random_.chance(95)) return {};
    if (candidates.empty()) return {block_, Arg::of_text("stream")};
    return random_.pick(candidates);
  }
  Args annotate(const lathe::Schedule& s) {
    switch (random_.below(4)) {
      case 0:
        return {some_loop(s), Arg::of_text("unroll_explicit"), Arg::of_number(random_.below(5))};
      case 1:
        return {some_loop(s), Arg::of_text("max_threads"), Arg::of_number(random_.below(3))};
      case 2:
        return {block_, Arg::of_text("stream"), Arg::of_number(random_.below(3))};
      default:
        return {block_, Arg::of_text("user.note"), Arg::of_text("x \"y\"")};
    }
  }
};

}  // namespace fuzz
