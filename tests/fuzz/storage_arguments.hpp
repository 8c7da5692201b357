// Random arguments of the primitives that few programs allow, and of those about storage.
#pragma once

#include <string>
#include <vector>

#include "schedule_pieces.hpp"

namespace fuzz {

class StorageArguments : protected SchedulePieces {
 protected:
  using SchedulePieces::SchedulePieces;
  using Schedule = lathe::Schedule;

  /// Where a block would compute a window of rows that rolling_buffer takes.
  Args place_to_roll(const Schedule& s) {
    std::vector<Args> places;
    for (const auto& block : s.blocks())
      for (const auto& user : lathe::consumers(s.program()->body, block.tag))
        for (const auto& loop : user.loops) {
          const Args args{block, LoopRef(loop->var)};
          if (s.check(*lathe::find_primitive("compute_at"), args)) continue;
          Schedule moved = s;
          moved.apply(*lathe::find_primitive("compute_at"), args);
          if (!moved.check(*lathe::find_primitive("rolling_buffer"), args)) places.push_back(args);
        }
    return places.empty() ? Args() : random_.pick(places);
  }
  static std::vector<Args> legal_of(const Schedule& s, const char* primitive,
                                    const std::vector<Args>& all) {
    std::vector<Args> legal;
    for (const auto& args : all)
      if (!s.check(*lathe::find_primitive(primitive), args)) legal.push_back(args);
    return legal;
  }
  /// Legal ones of these, as a rule: of steps that few places allow.
  Args mostly_legal(const Schedule& s, const char* primitive, const std::vector<Args>& all) {
    if (all.empty()) return {};
    if (random_.chance(30)) return random_.pick(all);
    const std::vector<Args> legal = legal_of(s, primitive, all);
    return random_.pick(legal.empty() ? all : legal);
  }
  /// The same, and nothing as a rule if none is legal: of steps that few programs allow.
  Args legal_or_none(const Schedule& s, const char* primitive, const std::vector<Args>& all) {
    const std::vector<Args> legal = legal_of(s, primitive, all);
    if (!legal.empty() && random_.chance(80)) return random_.pick(legal);
    return all.empty() || random_.chance(90) ? Args() : random_.pick(all);
  }
  /// Of split: a loop that may run past its end, if there is one.
  Args round_up(const Schedule& s) {
    std::vector<Args> candidates;
    for (const auto& block : s.blocks())
      for (const auto& loop : s.loops(block))
        candidates.push_back({loop,
                              Arg::of_list({Arg::of(lathe::Factor(lathe::infer)),
                                            Arg::of_number(2 + random_.below(7))}),
                              Arg::of_word("round_up")});
    const std::vector<Args> legal = legal_of(s, "split", candidates);
    return legal.empty() ? Args() : random_.pick(legal);
  }
  /// Loops with something to peel, as a rule.
  Args partition(const Schedule& s) {
    static const std::vector<std::string> others = {"never", "automatic", "sometimes"};
    if (random_.chance(20)) return {some_loop(s), Arg::of_word(random_.pick(others))};
    std::vector<Args> candidates;
    lathe::each_statement(s.program()->body, [&](const lathe::Stmt& below) {
      if (const auto* f = below.as<lathe::ForNode>())
        candidates.push_back({LoopRef(f->var), Arg::of_word("always")});
    });
    return legal_or_none(s, "partition", candidates);
  }
  Args double_buffer(const Schedule& s) {
    return mostly_legal(s, "double_buffer", buffers_in_loops(s));
  }
  /// Loops of several statements, in stages that rise, as a rule.
  Args software_pipeline(const Schedule& s) {
    std::vector<Args> candidates;
    lathe::each_statement(s.program()->body, [&](const lathe::Stmt& below) {
      const auto* f = below.as<lathe::ForNode>();
      if (!f || lathe::seq_of(f->body).size() < 2) return;
      std::vector<Arg> stages, orders;
      int stage = 0;
      const bool up = random_.chance(60);
      const auto n = static_cast<int>(lathe::seq_of(f->body).size());
      for (int k = 0; k < n; ++k) {
        stages.push_back(Arg::of_number(stage));
        orders.push_back(Arg::of_number(up ? k : n - k));
        stage += random_.below(3);
      }
      candidates.push_back({LoopRef(f->var), Arg::of_list(stages), Arg::of_list(orders)});
    });
    return mostly_legal(s, "software_pipeline", candidates);
  }
  /// A block and a loop above it whose window moves, if there is one.
  Args rolling_buffer(const Schedule& s) {
    std::vector<Args> candidates;
    for (const auto& block : s.blocks())
      for (const auto& loop : s.loops(block))
        if (!lathe::consumers(s.program()->body, block.tag).empty())
          candidates.push_back({block, loop});
    return legal_or_none(s, "rolling_buffer", candidates);
  }
  /// A temporary, and a type that holds what it does, as a rule.
  Args change_type(const Schedule& s) {
    static const std::vector<std::string> types = {"i8",  "u8",  "i16", "u16", "i32",
                                                   "u32", "i64", "f32", "f64"};
    static const std::vector<std::int64_t> offsets = {0, 0, 0, 128, -128, 1, -5, INT64_MAX};
    const Arg offset = Arg::of_number(random_.pick(offsets));
    if (random_.chance(3)) return {some_buffer(s), Arg::of_word(random_.pick(types)), offset};
    std::vector<Args> candidates;
    lathe::each_statement(s.program()->body, [&](const lathe::Stmt& below) {
      const auto* a = below.as<lathe::AllocNode>();
      if (!a || !(a->buffer->dtype.is_int() || a->buffer->dtype.is_float())) return;
      for (const auto& t : types)
        candidates.push_back({Arg::of_buffer(a->buffer->name), Arg::of_word(t), offset});
    });
    return legal_or_none(s, "change_type", candidates);
  }
  /// A buffer and a loop that holds all that touches it, as a rule.
  Args hoist_storage(const Schedule& s) {
    if (random_.chance(3)) return {some_buffer(s), some_loop(s)};
    return legal_or_none(s, "hoist_storage", buffers_in_loops(s));
  }
  Args reverse_compute_inline(const Schedule& s) {
    std::vector<Args> candidates;
    for (const auto& block : s.blocks()) candidates.push_back({block});
    return legal_or_none(s, "reverse_compute_inline", candidates);
  }
  std::vector<Args> buffers_in_loops(const Schedule& s) {
    std::vector<Args> candidates;
    const lathe::Stmt& root = s.program()->body;
    lathe::each_statement(root, [&](const lathe::Stmt& below) {
      const auto* f = below.as<lathe::ForNode>();
      if (!f) return;
      for (const auto& buffer : lathe::buffers_written(f->body))
        if (lathe::is_private(root, buffer) &&
            lathe::writers(f->body, buffer).size() == lathe::writers(root, buffer).size() &&
            lathe::readers(f->body, buffer).size() == lathe::readers(root, buffer).size())
          candidates.push_back({Arg::of_buffer(buffer->name), LoopRef(f->var)});
    });
    return candidates;
  }
  /// An outer dimension of a buffer that the program allocates, as a rule.
  Args storage_align(const Schedule& s) {
    std::vector<lathe::Buffer> buffers;
    lathe::each_statement(s.program()->body, [&](const lathe::Stmt& below) {
      const auto* a = below.as<lathe::AllocNode>();
      if (a && a->buffer->rank() > 1) buffers.push_back(a->buffer);
    });
    const std::int64_t factor = 1 + random_.below(20);
    Arg by = Arg::of_number(factor);
    Arg offset = Arg::of_number(random_.below(static_cast<int>(factor) + random_.below(2)));
    if (buffers.empty() || random_.chance(10))
      return {some_buffer(s), Arg::of_number(random_.below(3) - 1), by, offset};
    lathe::Buffer buffer = random_.pick(buffers);
    return {Arg::of_buffer(buffer->name), Arg::of_number(random_.below(buffer->rank() - 1)), by,
            offset};
  }
};

}  // namespace fuzz
