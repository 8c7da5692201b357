// A schedule as a page for a browser: what each loop touches and computes. 11_page [FILE.html]
#include <cstdio>
#include <fstream>
#include <lathe/lathe.hpp>

namespace lt = lathe;

int main(int argc, char** argv) {
  const int m = 512, n = 512, k = 512;
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  lt::Schedule s(C);
  auto [i, j, q] = s.loops<3>(C);
  auto [io, jo, ii, ji] = s.tile(i, j, 8, 32);
  auto [qo, qi] = s.split<2>(q, {lt::infer, 64});
  s.reorder({io, jo, qo, qi, ii, ji});
  s.vectorize(ji);
  s.unroll(ii);
  s.parallel(io);

  const char* path = argc > 1 ? argv[1] : "schedule.html";
  // [page]
  std::ofstream(path) << s.html();

  // The page's numbers come from work_of. Here, how much one step of each loop touches:
  for (const lt::LoopRef& loop : s.loops(C)) {
    const lt::Work work = lt::work_of(s.program(), loop.var);
    std::printf("%s: %s bytes, %s operations\n", loop.name().c_str(), lt::str(work.bytes).c_str(),
                lt::str(work.operations).c_str());
  }
  // [page]
  std::printf("wrote %s\n", path);
}
