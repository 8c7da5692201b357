#pragma once

#include <algorithm>
#include <bit>
#include <lathe/analysis/footprint.hpp>
#include <lathe/analysis/kept.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/core/impl/html_costs.ipp>
#include <lathe/schedule/core/impl/html_style.ipp>
#include <lathe/schedule/core/impl/html_text.ipp>
#include <lathe/schedule/core/schedule.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

// A size that may be unknown, or over Dims.
inline std::string bytes_text(const AnyExpr& bytes) {
  if (!bytes) return "unknown";
  const std::int64_t* number = as_const_int(bytes);
  return number ? bytes_in_units(static_cast<double>(*number)) : html_text(str(bytes)) + " B";
}
inline std::string count_text(const AnyExpr& count) {
  if (!count) return "unknown";
  const std::int64_t* number = as_const_int(count);
  return number ? count_in_units(static_cast<double>(*number)) : html_text(str(count));
}
inline std::string intensity_text(const Work& work) {
  if (!work.bytes || !work.operations) return "unknown op/B";
  const std::int64_t *bytes = as_const_int(work.bytes), *count = as_const_int(work.operations);
  if (bytes && count)
    return *bytes == 0
               ? "nothing touched"
               : three_digits(static_cast<double>(*count) / static_cast<double>(*bytes)) + " op/B";
  Vec<std::string> names;
  for (const auto& v : free_vars(make_binary(BinaryOp::add, work.bytes, work.operations)))
    names.push_back(v->name);
  return "op/B by " + html_text(join(names, ", "));
}
inline std::string box_text(const Vec<AnyExpr>& extents) {
  return extents.empty() ? "1" : join(extents, " × ", [](const AnyExpr& e) {
    return e.as<ConstNode>() || e.as<VarNode>() ? html_text(str(e)) : "(" + html_text(str(e)) + ")";
  });
}

// The page, part by part.
class SchedulePage {
 public:
  SchedulePage(const Schedule& schedule, const Target& machine)
      : schedule_(schedule), program_(schedule.program()), machine_(machine) {}

  std::string text() {
    const std::string name = html_text(program_->name);
    append(out_, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
           name, "</title>\n<style>\n", kSchedulePageStyle, "</style>\n</head>\n<body>\n");
    append(out_, "<h1>", name, "</h1>\n", kSchedulePageLegend);
    caches();
    loops();
    buffers();
    append(out_, costs_section(schedule_.explain({.machine = Machine(machine_)})));
    steps();
    append(out_, "</body>\n</html>\n");
    return std::move(out_);
  }

 private:
  void loops() {
    const Work all = work_of(program_);
    if (const std::int64_t* bytes = all.bytes ? as_const_int(all.bytes) : nullptr)
      most_ = static_cast<std::uint64_t>(*bytes);
    append(out_, "<h2>Loops</h2>\n", kSchedulePageHeads,
           "<details open class=\"loop program\">\n<summary><code>program ",
           html_text(program_->name), "</code>");
    totals(all);
    append(out_, "</summary>\n");
    chips(all);
    statement(program_->body);
    append(out_, "</details>\n");
  }

  void statement(const Stmt& s) {
    if (const auto* f = s.as<ForNode>()) return loop(*f);
    if (const auto* b = s.as<BlockNode>()) return block(*b, s);
    if (s.as<SeqNode>() || s.as<AllocNode>()) {
      any_child(s, [&](const Stmt& child) { return statement(child), false; });
      return;
    }
    bool holds_loops = any_statement(s, [](const Stmt& below) {
      return below.kind() == StmtKind::For || below.kind() == StmtKind::Block;
    });
    if (!holds_loops) return bare(str(s));
    const std::string text = str(s);
    bare(text.substr(0, text.find('\n')));
    any_child(s, [&](const Stmt& child) { return statement(child), false; });
  }
  void bare(const std::string& text) { append(out_, "<pre>", html_text(text), "</pre>\n"); }

  void loop(const ForNode& loop) {
    const std::string kind(to_text(loop.loop_kind));
    append(out_, "<details open class=\"loop ", is_bound(loop.loop_kind) ? "bound" : kind,
           "\">\n<summary>");
    if (loop.loop_kind != ForKind::serial) append(out_, "<b>", kind, "</b> ");
    const AnyExpr end = simplify(fold_add(loop.min, loop.extent));
    append(out_, "<code>for ", html_text(loop.var->name), " in ", html_text(str(loop.min)), "..",
           html_text(str(end)), "</code>");
    for (const auto& a : loop.attributes) mark(a);
    const std::int64_t* extent = as_const_int(loop.extent);
    const bool empty = extent && *extent <= 0;
    if (empty) append(out_, " <i class=\"mark\">runs nothing</i>");
    const Work work = empty ? Work() : work_of(program_, loop.var);
    if (!empty) totals(work);
    append(out_, "</summary>\n");
    if (!empty) chips(work);
    statement(loop.body);
    append(out_, "</details>\n");
  }

  void mark(const Attribute& a) {
    append(out_, " <i class=\"mark\">", html_text(to_text(a)), "</i>");
  }

  // What one iteration touches and computes, with a bar that is as long as the number of digits.
  void totals(const Work& work) {
    append(out_, "<span class=\"totals\">");
    const std::int64_t* bytes = work.bytes ? as_const_int(work.bytes) : nullptr;
    if (bytes && most_ > 0)
      append(out_, "<span class=\"bar\"><span style=\"width:",
             100 * std::bit_width(static_cast<std::uint64_t>(*bytes)) / std::bit_width(most_),
             "%\"></span></span>");
    append(out_, "<span class=\"bytes\">", bytes_text(work.bytes), "</span><span class=\"level\">",
           bytes ? level_of(*bytes) : "", "</span><span class=\"ops\">",
           work.exact || !work.operations ? "" : "≤ ", count_text(work.operations),
           " op</span><span class=\"intensity\">", intensity_text(work), "</span></span>");
  }
  // The nearest cache of a core that is as large.
  std::string_view level_of(std::int64_t bytes) const {
    if (bytes <= machine_.l1_bytes) return "L1";
    if (bytes <= machine_.l2_bytes) return "L2";
    return bytes <= machine_.l3_bytes ? "L3" : "memory";
  }
  void caches() {
    const auto size = [](std::int64_t bytes) { return bytes_text(AnyExpr(bytes)); };
    append(out_, "<p class=\"legend\">Caches of ",
           machine_.name == "host" ? "this machine" : html_text(machine_.name),
           ", as one core sees them: L1 ", size(machine_.l1_bytes), ", L2 ",
           size(machine_.l2_bytes), ", L3 ", size(machine_.l3_bytes), ".</p>\n");
  }
  void chips(const Work& work) {
    append(out_, "<p class=\"chips\">");
    for (const auto& f : work.buffers)
      append(out_, "<span class=\"", f.writes ? "written" : "read", "\"><code>",
             html_text(f.buffer->name), "</code> ", f.exact ? "" : "≤ ", box_text(f.extents),
             " <small>", bytes_text(f.bytes), "</small></span> ");
    append(out_, "</p>\n");
  }

  void block(const BlockNode& block, const Stmt& s) {
    append(out_, "<details class=\"block\">\n<summary><b>block</b> <code>", html_text(block.name()),
           "</code>");
    if (block.reducer)
      append(out_, " <i class=\"mark\">reduction ", html_text(block.reducer->name),
             block.init ? ", with init" : "", "</i>");
    if (is_guarded(block)) append(out_, " <i class=\"mark\">guarded</i>");
    for (const auto& a : block.attributes)
      if (!a.as<GuardsAttr>()) mark(a);
    append(out_, "<span class=\"touches\">", touches("writes", writes_of(block)),
           touches("reads", reads_of(block)), "</span></summary>\n");
    bare(str(s));
    append(out_, "</details>\n");
  }

  // Whether some loop points lie outside of the block's domain.
  bool is_guarded(const BlockNode& block) const {
    const Facts facts = facts_on(find_block(program_->body, block.tag).path, Facts(program_));
    for (const auto& it : block.iters)
      if (!prove(it.binding >= it.min, facts) || !prove(it.binding < it.min + it.extent, facts))
        return true;
    return false;
  }

  // Each place once; of a buffer with many, how many there are.
  static std::string touches(std::string_view verb, const Vec<AccessSite>& all) {
    constexpr std::size_t kShown = 3;
    Vec<Buffer> buffers;
    for (const auto& a : all) add_once(buffers, a.buffer);
    Vec<std::string> out;
    for (const auto& buffer : buffers) {
      Vec<std::string> places;
      for (const auto& a : all) {
        if (a.buffer != buffer) continue;
        std::string place = place_text(a);
        if (std::find(places.begin(), places.end(), place) == places.end())
          places.push_back(std::move(place));
      }
      if (places.size() > kShown) places = {cat(buffer->name, " at ", places.size(), " places")};
      for (const auto& p : places) out.push_back("<code>" + html_text(p) + "</code>");
    }
    return out.empty() ? std::string() : cat("<span>", verb, " ", join(out, ", "), "</span>");
  }
  static std::string place_text(const AccessSite& a) {
    if (a.kind == AccessKind::opaque) return a.buffer->name;
    return cat(a.buffer->name, "[", join(a.indices, ", ", [](const AnyExpr& e) { return str(e); }),
               "]");
  }

  void buffers() {
    append(out_, "<h2>Buffers</h2>\n<div class=\"wide\"><table>\n<tr><th>name</th><th>type</th>",
           "<th>scope</th><th>declared</th><th>kept</th><th>bytes</th><th>cache</th>",
           "<th>where</th></tr>\n");
    static constexpr std::string_view kAccess[] = {"input", "output", "input and output"};
    for (const auto& p : program_->params) {
      if (!p.buffer) continue;
      AnyExpr bytes(static_cast<std::int64_t>(p.buffer->dtype.element_bytes()));
      for (const auto& e : p.buffer->shape) bytes = size_product(bytes, e);
      buffer(*p.buffer, {nullptr, p.buffer->shape, bytes},
             p.is_argument() ? cat("parameter, ", kAccess[static_cast<int>(p.access)],
                                   p.constancy == Constancy::promised ? ", constant" : "")
                             : std::string("constant"));
    }
    allocations(program_->body);
    append(out_, "</table></div>\n");
  }
  void allocations(const Stmt& s) {
    if (const auto* a = s.as<AllocNode>()) {
      const KeptBuffer kept = kept_of(program_, a->buffer);
      buffer(*a->buffer, kept,
             kept.loop ? cat("one for each iteration of loop <code>",
                             html_text(kept.loop->var->name), "</code>")
                       : "one for the whole program");
    }
    any_child(s, [&](const Stmt& child) { return allocations(child), false; });
  }
  void buffer(const BufferNode& b, const KeptBuffer& kept, const std::string& where) {
    const std::int64_t* bytes = kept.bytes ? as_const_int(kept.bytes) : nullptr;
    append(out_, "<tr><td><code>", html_text(b.name), "</code></td><td>", b.dtype.str(),
           "</td><td>", to_text(b.scope), "</td><td>", shape_text(b.shape), "</td><td>",
           kept.versions == 2 ? "2 × " : "", shape_text(kept.extents), "</td><td>",
           bytes_text(kept.bytes), "</td><td>", bytes ? level_of(*bytes) : "", "</td><td>", where,
           "</td></tr>\n");
  }
  static std::string shape_text(const Vec<AnyExpr>& shape) {
    return shape.empty() ? "scalar" : box_text(shape);
  }

  void steps() {
    const Vec<std::string> notes = schedule_.numerics();
    append(out_, "<h2>Rounding</h2>\n<ul>\n");
    for (const auto& note : notes) append(out_, "<li>", html_text(note), "</li>\n");
    if (notes.empty()) append(out_, "<li>no step changes a bit of the results</li>\n");
    append(out_, "</ul>\n<details>\n<summary>Steps</summary>\n");
    bare(schedule_.trace().str());
    append(out_, "</details>\n<details>\n<summary>Program</summary>\n");
    bare(schedule_.str());
    append(out_, "</details>\n");
  }

  const Schedule& schedule_;
  const Program& program_;
  const Target& machine_;
  std::uint64_t most_ = 0;  ///< bytes of the whole program, if known
  std::string out_;
};

}  // namespace detail

LATHE_DECL std::string Schedule::html(const Target& machine) const {
  return detail::SchedulePage(*this, machine).text();
}

}  // namespace lathe
