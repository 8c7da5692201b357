#include <algorithm>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/kept.hpp>
#include <support/text.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

namespace {

/// The parts of a page that are not tags; fails unless tags nest, attributes are quoted and no
/// character stands as it is that HTML takes for its own.
std::string words_of(const std::string& page) {
  std::string words;
  std::vector<std::string> open;
  for (std::size_t at = 0; at < page.size();) {
    if (page[at] != '<') {
      const bool style = !open.empty() && open.back() == "style";
      if (!style && page[at] == '>') FAIL("a lone '>' after " << words);
      if (!style) words += page[at];
      ++at;
      continue;
    }
    const std::size_t end = page.find('>', at);
    REQUIRE(end != std::string::npos);
    const std::string tag = page.substr(at + 1, end - at - 1);
    at = end + 1;
    CHECK(tag.find('<') == std::string::npos);
    CHECK(std::count(tag.begin(), tag.end(), '"') % 2 == 0);
    const std::string name = tag.substr(0, tag.find(' '));
    if (name == "!DOCTYPE" || name == "meta") continue;
    if (name[0] != '/') {
      open.push_back(name);
      continue;
    }
    REQUIRE(!open.empty());
    CHECK("/" + open.back() == name);
    open.pop_back();
  }
  CHECK(open.empty());
  return words;
}

/// A page that is the same on every machine: caches of 32 KiB, 512 KiB and 8 MiB.
std::string page_of(const lt::Schedule& s) { return s.html(lt::Target("x86-64-v3")); }

/// What a loop's line says after its bounds, and below it of each buffer.
std::string loop_line(const std::string& page, const std::string& loop) {
  const std::string words = words_of(page);
  const std::size_t at = words.find(loop);
  if (at == std::string::npos) return "no such loop";
  const std::size_t end = words.find('\n', words.find('\n', at) + 1);
  return words.substr(at, end - at);
}

}  // namespace

TEST_CASE("html: a tiled matrix product, with numbers counted by hand") {
  Gemm k(64, 96, 128);
  lt::Schedule s(k.D);
  auto [i, j, r] = s.loops<3>(k.C);
  auto [io, jo, ii, ji] = s.tile(i, j, 8, 32);
  s.reorder({io, jo, r, ii, ji});
  s.vectorize(ji);
  s.unroll(ii);
  s.parallel(io);
  const std::string page = page_of(s);
  // A tile: A 8*128*4, B 128*32*4, C 8*32*4 bytes, 21504 together; 2*8*32*128 operations.
  CHECK(loop_line(page, "for jo in") ==
        "for jo in 0..321 KiBL165.5 k op3.05 op/B\n"
        "A 8 × 128 4 KiB B 128 × 32 16 KiB C 8 × 32 1 KiB ");
  CHECK(loop_line(page, "for ji in") ==
        "for ji in 0..3212 BL12 op0.17 op/B\nA 1 × 1 4 B B 1 × 1 4 B C 1 × 1 4 B ");
  CHECK(loop_line(page, "program D") ==
        "program D128 KiBL21.58 M op12 op/B\n"
        "A 64 × 128 32 KiB B 128 × 96 48 KiB C 64 × 96 24 KiB D 64 × 96 24 KiB ");
  for (const char* kind : {"parallel", "unrolled", "vectorized"})
    CHECK(count_of(page, "<details open class=\"loop " + std::string(kind) + "\">") == 1);
  CHECK(count_of(page, "<details open class=\"loop serial\">") == 4);
  CHECK(count_of(page, "<details class=\"block\">") == 2);
  CHECK(page.find("guarded") == std::string::npos);
  CHECK(words_of(page).find("reads A[vi, vr], B[vr, vj], C[vi, vj]") != std::string::npos);
  CHECK(words_of(page).find("one for the whole program") != std::string::npos);
  CHECK(page_of(s) == page);
  CHECK(words_of(page).find(
            "Caches of x86-64-v3, as one core sees them: L1 32 KiB, L2 512 KiB, L3 8 MiB.") !=
        std::string::npos);
  CHECK(words_of(page).find("\nbytescache\noperationsper byte") != std::string::npos);
}

TEST_CASE("html: one file that needs no other") {
  Gemm k(8, 8, 8);
  const std::string page = lt::Schedule(k.D).html();
  for (const char* part : {"http", "src=", "href", "url(", "@import", "<link", "<script"})
    CHECK(page.find(part) == std::string::npos);
  CHECK(page.substr(0, 15) == "<!DOCTYPE html>");
  CHECK(page.find("prefers-color-scheme: dark") != std::string::npos);
}

TEST_CASE("html: tails, notes and rounding are named") {
  RowSum k(100, 30);
  lt::Schedule s(k.S);
  auto [i, r] = s.loops<2>(k.S);
  auto [io, ii] = s.split(i, {lt::infer, 8});
  s.annotate(io, "user.why", "a < b & \"c\"");
  s.rfactor(s.split(r, {lt::infer, 10})[1]);
  const std::string page = s.html(), words = words_of(page);
  CHECK(words.find("for ii in 0..8 @tail=&quot;guard&quot;") != std::string::npos);
  CHECK(words.find("@user.why=&quot;a &lt; b &amp; \\&quot;c\\&quot;&quot;") != std::string::npos);
  CHECK(words.find("reduction sum, with init guarded") != std::string::npos);
  CHECK(words.find(s.numerics()[0]) != std::string::npos);
}

TEST_CASE("html: names are text, whatever they hold") {
  const std::string page =
      lt::Schedule(
          lt::parse("program `</title><script>`(in `<b>&\"X\x01`: f32[4], out `</pre><script>`: "
                    "f32[4]):\n"
                    "  for `<i>` in 0..4:\n"
                    "    block `<script>`(`</code>` in 0..4 = `<i>`):\n"
                    "      `</pre><script>`[`</code>`] = `<b>&\"X\x01`[`</code>`] + 1.0\n"))
          .html();
  words_of(page);
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("<b>&") == std::string::npos);
  CHECK(page.find('\x01') == std::string::npos);
  CHECK(page.find("&lt;b&gt;&amp;&quot;X") != std::string::npos);
}

TEST_CASE("html: symbolic extents, empty loops, no loops") {
  lt::Dim n("n");
  Add symbolic(n);
  lt::Schedule s(symbolic.Y);
  s.split(s.loops(symbolic.Y)[0], {lt::infer, 8});
  CHECK(loop_line(page_of(s), "program Y") ==
        "program Yn * 8 B≤ floordiv(n + 7, 8) * 8 opop/B by n\nX ≤ n n * 4 B Y ≤ n n * 4 B ");
  CHECK(loop_line(page_of(s), "for io in") ==
        "for io in 0..floordiv(n + 7, 8)64 BL1≤ 8 op0.13 op/B\nX ≤ 8 32 B Y ≤ 8 32 B ");
  Add none(0);
  CHECK(words_of(lt::Schedule(none.Y).html()).find("for i in 0..0 runs nothing") !=
        std::string::npos);
  auto point = lt::compute("Z", {}, [&] { return lt::Expr<float>(2.0f) * 3.0f; });
  CHECK(words_of(lt::Schedule(point).html()).find("Zf32globalscalarscalar4 BL1parameter, output") !=
        std::string::npos);
}

TEST_CASE("html: a loop under a condition is a loop, with or without a block") {
  const std::string page = schedule_of(R"(program P(in X: f32[8], out Y: f32[8]):
  if X[0] > 0.0:
    for i in 0..8:
      Y[i] = X[i]
)")
                               .html();
  CHECK(page.find("<pre>if X[0] &gt; 0.0:</pre>") != std::string::npos);
  CHECK(loop_line(page, "for i in").substr(0, 13) == "for i in 0..8");
}

namespace {

/// The row of a buffer, its cells apart.
std::string row_of(const std::string& page, const std::string& buffer) {
  const std::size_t at = page.find("<tr><td><code>" + buffer + "</code>");
  if (at == std::string::npos) return "no such buffer";
  std::string row = page.substr(at, page.find("</tr>", at) - at);
  for (std::size_t cell = row.find("</td><td>"); cell != std::string::npos;
       cell = row.find("</td><td>"))
    row.replace(cell, 9, " | ");
  return words_of(row + "</tr>");
}

std::string shape_text(const lt::Vec<lt::AnyExpr>& shape) {
  std::string out;
  for (const auto& e : shape) out += (out.empty() ? "" : " × ") + lt::str(e);
  return out;
}

/// The shape that lowering leaves of a buffer.
std::string lowered_shape(const lt::Schedule& s, const std::string& buffer) {
  const lt::Program p = lt::lower_until("compact_buffers", s.program(), lt::host());
  std::string shape = "none";
  lt::any_statement(p->body, [&](const lt::Stmt& below) {
    const auto* a = below.as<lt::AllocNode>();
    if (!a || a->buffer->name != buffer) return false;
    shape = shape_text(a->buffer->shape);
    return true;
  });
  return shape;
}

std::string kept_shape(const lt::Schedule& s, const char* buffer) {
  return shape_text(
      lt::detail::kept_of(s.program(), lt::detail::find_buffer(s.program(), buffer)).extents);
}

}  // namespace

TEST_CASE("html: a block moved into a loop has a buffer for each iteration, of that size") {
  Blur k(64);
  lt::Schedule s(k.C);
  auto [xo, xi] = s.split(s.loops(k.C)[0], {lt::infer, 16});
  s.compute_at(k.P, xo);
  CHECK(row_of(page_of(s), "P") ==
        "P | f32 | global | 66 | 18 | 72 B | L1 | one for each iteration of loop io");
  CHECK(loop_line(page_of(s), "for io in") ==
        "for io in 0..4208 BL150 op0.24 op/B\nA 18 72 B P 18 72 B C 16 64 B ");
  CHECK(kept_shape(s, "P") == lowered_shape(s, "P"));
  lt::Schedule two = s;
  two.double_buffer(k.P, xo);
  CHECK(row_of(page_of(two), "P") ==
        "P | f32 | global | 66 | 2 × 18 | 144 B | L1 | one for each iteration of loop io");
}

TEST_CASE("html: what is kept of a buffer is what lowering keeps") {
  Gemm k(64, 96, 128);
  lt::Schedule s(k.D);
  auto [i, j, r] = s.loops<3>(k.C);
  auto [io, jo, ii, ji] = s.tile(i, j, 8, 32);
  auto [ro, ri] = s.split(r, {lt::infer, 16});
  s.reorder({io, jo, ro, ri, ii, ji});
  lt::BlockRef tile = s.cache_write(k.C, lt::Scope::local);
  CHECK(kept_shape(s, "C_cache") == lowered_shape(s, "C_cache"));
  s.reverse_compute_at(tile, jo);
  s.reverse_compute_at(k.D, jo);
  lt::BlockRef panel = s.cache_read(k.C, k.B, lt::Scope::global);
  s.compute_at(panel, ro);
  for (const char* buffer : {"C", "C_cache", "B_cache"}) {
    CAPTURE(buffer);
    CHECK(kept_shape(s, buffer) == lowered_shape(s, buffer));
  }
  CHECK(kept_shape(s, "C_cache") == "8 × 32");
  CHECK(kept_shape(s, "B_cache") == "16 × 32");
  // Sums that the whole reduction carries are not one iteration's.
  CHECK(row_of(page_of(s), "C_cache").find("iteration of loop jo") != std::string::npos);
}

TEST_CASE("html: what is kept over Dims") {
  lt::Dim n("n");
  lt::Input<float, 1> A("A", {n + 2});
  auto P = lt::compute("P", {n + 2}, [&](lt::Var x) { return A(x) * 2.0f; });
  auto C = lt::compute("C", {n}, [&](lt::Var x) { return P(x) + P(x + 1) + P(x + 2); });
  auto D = lt::compute("D", {n}, [&](lt::Var x) { return C(x) + A(x); });
  lt::Schedule s(D);
  CHECK(row_of(page_of(s), "P").find("P | f32 | global | (n + 2) | (n + 2) | ") == 0);
  CHECK(kept_shape(s, "C") == lowered_shape(s, "C"));
  auto [xo, xi] = s.split(s.loops(D)[0], {lt::infer, 16});
  s.compute_at(C, xo);
  s.compute_at(P, xo);
  CHECK(kept_shape(s, "P") == lowered_shape(s, "P"));
  CHECK(kept_shape(s, "C") == lowered_shape(s, "C"));
}
