// Statements as a list, with those inside of bindings.
#pragma once

#include <lathe/ir/visit.hpp>

namespace lathe::detail {

/// Statements that run one after the other. Those after a binding lie inside of it if it `opens`.
struct OrderedStmt {
  Stmt stmt;
  bool opens;
};
inline void follow(const Stmt& s, Vec<OrderedStmt>& out) {
  const Vec<Stmt> list = seq_of(s);
  for (const Stmt& child : list) out.push_back({child, false});
  const auto* let = list.empty() ? nullptr : list.back().as<LetStmtNode>();
  if (!let || seq_of(let->body).empty()) return;
  out.back().opens = true;
  follow(let->body, out);
}

}  // namespace lathe::detail
