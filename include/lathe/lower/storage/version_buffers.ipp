#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

class VersionAccesses : public MoveAccesses {
 public:
  VersionAccesses(const Buffer& from, const Buffer& to, AnyExpr version)
      : MoveAccesses(from, to), version_(std::move(version)) {}

 private:
  Vec<AnyExpr> place(const Vec<AnyExpr>& indices) override {
    Vec<AnyExpr> out = indices;
    out.insert_at(0, version_);
    return out;
  }
  AnyExpr version_;
};

/// Gives buffers versions; their Allocs stand above the loops whose iterations take them in turn.
class VersionBuffers : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* a = s.as<AllocNode>();
    if (!a) return descend(s);
    Stmt body = stmt(a->body);
    Buffer buffer = a->buffer;
    for (const auto& [from, to] : versions_)  // loops inside came first
      if (from == buffer) buffer = to;
    return make_alloc(buffer, body);
  }
  AnyExpr expr(const AnyExpr& e) override { return e; }

 protected:
  Stmt with_versions(const ForNode& loop, const Stmt& body, const Buffer& buffer,
                     std::int64_t count) {
    return VersionAccesses(buffer, versioned(buffer, count),
                           fold_floormod(fold_sub(AnyExpr(loop.var), loop.min), AnyExpr(count)))
        .stmt(body);
  }

 private:
  Buffer versioned(const Buffer& buffer, std::int64_t count) {
    for (const auto& [from, to] : versions_)
      if (from == buffer) return to;
    BufferNode node = *buffer;
    node.shape.insert_at(0, AnyExpr(count));
    for (auto& rule : node.aligned) ++rule.dim;
    versions_.emplace_back(buffer, Buffer(new BufferNode(std::move(node))));
    return versions_.back().second;
  }

  Vec<std::pair<Buffer, Buffer>> versions_;
};

}  // namespace lathe::detail
