// Programs written as loops, for the tests of several layers: what expressions can't say.
#pragma once

#include <lathe/dsl/dsl.hpp>
#include <string>
#include <vector>

namespace test {

namespace lt = lathe;

inline lt::Program scan(const lt::Extent& n) {
  return lt::script("scan", [&](lt::Script& p) {
    auto x = p.input<float>("x", {n});
    auto y = p.output<float>("y", {n});
    auto acc = p.local<float>("acc", {});
    p.store(acc(), 0.0f);
    p.for_("i", n, [&](lt::Var i) {
      p.store(acc(), acc() + x(i));
      p.store(y(i), acc());
    });
  });
}

/// A recursive filter for each of several channels: y[t] = b x[t] + a y[t - 1].
inline lt::Program filter(const lt::Extent& channels, const lt::Extent& n) {
  return lt::script("filter", [&](lt::Script& p) {
    auto x = p.input<float>("x", {channels, n});
    auto a = p.input<float>("a", {});
    auto b = p.input<float>("b", {});
    auto y = p.output<float>("y", {channels, n});
    p.for_("c", channels, [&](lt::Var c) {
      auto last = p.local<float>("last", {});
      p.store(last(), 0);
      p.for_("t", n, [&](lt::Var t) {
        p.store(last(), b() * x(c, t) + a() * last());
        p.store(y(c, t), last());
      });
    });
  });
}

/// A recurrent cell: its state c and its output h go from step to step.
inline lt::Program cell(const lt::Extent& steps, const lt::Extent& n) {
  return lt::script("cell", [&](lt::Script& p) {
    auto x = p.input<float>("x", {steps, n});
    auto W = p.input<float>("W", {n, n});
    auto h = p.inout<float>("h", {n});
    auto c = p.inout<float>("c", {n});
    auto g = p.local<float>("g", {n});
    p.for_("t", steps, [&](lt::Var t) {
      p.for_("i", n, [&](lt::Var i) {
        p.for_("k", n, [&](lt::Var k) {
          p.block("g", {i, k}, [&](lt::Var vi, lt::Var vk) {
            p.reduce(lt::Fold::sum, g(vi), W(vi, vk) * h(vk));
          });
        });
      });
      p.for_("j", n, [&](lt::Var j) {
        p.block("h", {t, j}, [&](lt::Var vt, lt::Var vj) {
          auto gate = p.let("gate", lt::sigmoid(g(vj) + x(vt, vj)));
          p.store(c(vj), gate * c(vj) + (1 - gate) * lt::tanh(g(vj)));
          p.store(h(vj), gate * lt::tanh(c(vj)));
        });
      });
    });
  });
}

/// Gauss-Seidel in place: each element from its neighbours, some of them new.
inline lt::Program seidel(const lt::Extent& sweeps, std::int64_t n) {
  return lt::script("seidel", [&](lt::Script& p) {
    auto A = p.inout<float>("A", {n, n});
    p.for_("t", sweeps, [&](lt::Var) {
      p.for_("i", 1, n - 1, [&](lt::Var i) {
        p.for_("j", 1, n - 1, [&](lt::Var j) {
          p.store(A(i, j),
                  (A(i - 1, j) + A(i, j - 1) + A(i, j) + A(i, j + 1) + A(i + 1, j)) * 0.2f);
        });
      });
    });
  });
}

/// The lower triangular factor of a symmetric matrix, in its place.
inline lt::Program cholesky(const lt::Extent& n) {
  return lt::script("cholesky", [&](lt::Script& p) {
    auto A = p.inout<float>("A", {n, n});
    p.for_("i", n, [&](lt::Var i) {
      p.for_("j", i, [&](lt::Var j) {
        p.for_("k", j, [&](lt::Var k) { p.store(A(i, j), A(i, j) - A(i, k) * A(j, k)); });
        p.store(A(i, j), A(i, j) / A(j, j));
      });
      p.for_("k", i, [&](lt::Var k) { p.store(A(i, i), A(i, i) - A(i, k) * A(i, k)); });
      p.store(A(i, i), lt::sqrt(A(i, i)));
    });
  });
}

/// B = Aᵀ B for A unit lower triangular, in B's place: row i reads rows below it only.
inline lt::Program trmm(const lt::Extent& m, const lt::Extent& n) {
  return lt::script("trmm", [&](lt::Script& p) {
    auto A = p.input<float>("A", {m, m});
    auto B = p.inout<float>("B", {m, n});
    p.for_("i", m, [&](lt::Var i) {
      p.for_("j", n, [&](lt::Var j) {
        p.for_("k", i + 1, m, [&](lt::Var k) { p.store(B(i, j), B(i, j) + A(k, i) * B(k, j)); });
      });
    });
  });
}

/// How often each number below `bins` occurs.
inline lt::Program histogram(const lt::Extent& n, std::int64_t bins) {
  return lt::script("histogram", [&](lt::Script& p) {
    auto x = p.input<int>("x", {n});
    auto count = p.output<int>("count", {bins});
    p.for_("b", bins, [&](lt::Var b) { p.store(count(b), 0); });
    p.for_("i", n,
           [&](lt::Var i) { p.atomic(lt::BinaryOp::add, count(lt::cast<std::int64_t>(x(i))), 1); });
  });
}

/// The greatest common divisor of each pair.
inline lt::Program gcd(const lt::Extent& n) {
  return lt::script("gcd", [&](lt::Script& p) {
    auto x = p.input<int>("x", {n});
    auto y = p.input<int>("y", {n});
    auto z = p.output<int>("z", {n});
    p.for_("i", n, [&](lt::Var i) {
      auto a = p.local<int>("a", {});
      auto b = p.local<int>("b", {});
      p.store(a(), x(i));
      p.store(b(), y(i));
      p.while_(b() != 0, [&] {
        auto rest = p.let("rest", a() % b());
        p.store(a(), b());
        p.store(b(), rest);
      });
      p.store(z(i), a());
    });
  });
}

/// All shortest ways, in place.
inline lt::Program shortest(const lt::Extent& n) {
  return lt::script("shortest", [&](lt::Script& p) {
    auto d = p.inout<int>("d", {n, n});
    p.for_("k", n, [&](lt::Var k) {
      p.for_("i", n, [&](lt::Var i) {
        p.for_("j", n, [&](lt::Var j) { p.store(d(i, j), lt::min(d(i, j), d(i, k) + d(k, j))); });
      });
    });
  });
}

/// Neighbours in order: what a branch chooses, and a swap through a let.
inline lt::Program sort_pairs(std::int64_t n) {
  return lt::script("sort_pairs", [&](lt::Script& p) {
    auto a = p.inout<int>("a", {n});
    auto swaps = p.inout<int>("swaps", {n / 2});
    p.for_("i", n / 2, [&](lt::Var i) {
      p.if_(
          a(2 * i) > a(2 * i + 1),
          [&] {
            auto t = p.let("t", a(2 * i));
            p.store(a(2 * i), a(2 * i + 1));
            p.store(a(2 * i + 1), t);
            p.store(swaps(i), 1);
          },
          [&] { p.store(swaps(i), 0); });
    });
  });
}

/// Rows of different lengths: the bounds are data.
inline lt::Program ragged(const lt::Extent& rows, const lt::Extent& n) {
  return lt::script("ragged", [&](lt::Script& p) {
    auto length = p.input<std::int64_t>("length", {rows});
    auto x = p.input<float>("x", {rows, n});
    auto s = p.output<float>("s", {rows});
    p.for_("i", rows, [&](lt::Var i) {
      p.for_("j", length(i), [&](lt::Var j) {
        p.block("s", {i, j},
                [&](lt::Var vi, lt::Var vj) { p.reduce(lt::Fold::sum, s(vi), x(vi, vj)); });
      });
    });
  });
}

/// The product of two matrices, with the largest element of each row and its place.
inline lt::Program matmul(const lt::Extent& m, const lt::Extent& n, const lt::Extent& k) {
  return lt::script("matmul", [&](lt::Script& p) {
    auto A = p.input<float>("A", {m, k});
    auto B = p.input<float>("B", {k, n});
    auto C = p.output<float>("C", {m, n});
    auto top = p.output<float>("top", {m});
    auto at = p.output<std::int64_t>("at", {m});
    p.for_("i", m, [&](lt::Var i) {
      p.for_("j", n, [&](lt::Var j) {
        p.for_("r", k, [&](lt::Var r) {
          p.block("C", {lt::spatial(i), lt::spatial(j), lt::reduce(r)},
                  [&](lt::Var vi, lt::Var vj, lt::Var vr) {
                    p.reduce(lt::Fold::sum, C(vi, vj), A(vi, vr) * B(vr, vj));
                  });
        });
      });
    });
    p.for_("i", m, [&](lt::Var i) {
      p.for_("j", n, [&](lt::Var j) {
        p.block("top", {i, j}, [&](lt::Var vi, lt::Var vj) {
          p.reduce(lt::Fold::argmax, std::tuple(top(vi), at(vi)), std::tuple(C(vi, vj), vj));
        });
      });
    });
  });
}

/// Blocks and statements in no block that work on the same buffers, under a loop that carries
/// state.
inline lt::Program mixed(const lt::Extent& steps, std::int64_t n) {
  return lt::script("mixed", [&](lt::Script& p) {
    auto x = p.input<float>("x", {n});
    auto y = p.output<float>("y", {n});
    auto h = p.inout<float>("h", {n});
    auto g = p.local<float>("g", {n});
    auto c = p.local<float>("c", {n});
    p.for_("t", steps, [&](lt::Var) {
      p.for_("i", n,
             [&](lt::Var i) { p.block("g", {i}, [&](lt::Var v) { p.store(g(v), x(v) + h(v)); }); });
      p.store(g(0), g(0) * 2);
      p.for_("j", n,
             [&](lt::Var j) { p.block("c", {j}, [&](lt::Var v) { p.store(c(v), g(v) + 1); }); });
      p.for_("k", 1, n, [&](lt::Var k) { p.store(h(k), h(k - 1) + c(k)); });
      p.for_("l", n,
             [&](lt::Var l) { p.block("y", {l}, [&](lt::Var v) { p.store(y(v), c(v) - h(v)); }); });
    });
  });
}

/// A pipeline of blocks that a loop runs again and again, each on what the round before left.
inline lt::Program rounds(const lt::Extent& steps, std::int64_t n) {
  return lt::script("rounds", [&](lt::Script& p) {
    auto u = p.inout<float>("u", {n});
    auto s = p.inout<float>("s", {1});
    auto a = p.local<float>("a", {n});
    auto b = p.local<float>("b", {n});
    p.for_("t", steps, [&](lt::Var t) {
      p.for_("i", n,
             [&](lt::Var i) { p.block("a", {i}, [&](lt::Var v) { p.store(a(v), u(v) * 2); }); });
      p.for_("j", n,
             [&](lt::Var j) { p.block("b", {j}, [&](lt::Var v) { p.store(b(v), a(v) + u(v)); }); });
      p.for_("k", n,
             [&](lt::Var k) { p.block("u", {k}, [&](lt::Var v) { p.store(u(v), b(v) - a(v)); }); });
      p.for_("q", n, [&](lt::Var q) {
        p.block("s", {t, q},
                [&](lt::Var, lt::Var v) { p.update(lt::Fold::sum, s(0), b(v) + u(v)); });
      });
    });
  });
}

/// Memory of one iteration, filled and read by blocks.
inline lt::Program rows(const lt::Extent& m, std::int64_t n) {
  return lt::script("rows", [&](lt::Script& p) {
    auto x = p.input<float>("x", {m, n});
    auto y = p.output<float>("y", {m, n});
    auto a = p.local<float>("a", {n});
    p.for_("h", n,
           [&](lt::Var h) { p.block("a", {h}, [&](lt::Var v) { p.store(a(v), x(0, v) + 1); }); });
    p.for_("i", m, [&](lt::Var i) {
      auto b = p.local<float>("b", {n});
      p.for_("j", n, [&](lt::Var j) {
        p.block("b", {i, j}, [&](lt::Var u, lt::Var v) { p.store(b(v), a(v) * x(u, v)); });
      });
      auto c = p.local<float>("c", {n});
      p.for_("k", n,
             [&](lt::Var k) { p.block("c", {k}, [&](lt::Var v) { p.store(c(v), b(v) - a(v)); }); });
      p.for_("l", n, [&](lt::Var l) {
        p.block("y", {i, l}, [&](lt::Var u, lt::Var v) { p.store(y(u, v), c(v) * b(v)); });
      });
    });
  });
}

struct NamedScript {
  std::string name;
  lt::Program program;
};
/// All of them, small, with data that `fill` of schedule tests gives a meaning.
inline std::vector<NamedScript> small_scripts() {
  return {{"scan", scan(10)},        {"filter", filter(5, 7)},       {"cell", cell(3, 6)},
          {"seidel", seidel(2, 7)},  {"cholesky", cholesky(6)},      {"trmm", trmm(6, 5)},
          {"shortest", shortest(5)}, {"sort_pairs", sort_pairs(10)}, {"matmul", matmul(6, 5, 4)},
          {"mixed", mixed(3, 6)},    {"rounds", rounds(2, 6)},       {"rows", rows(3, 5)}};
}

}  // namespace test
