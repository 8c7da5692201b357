// Recurrences, and one element after the other.
#include "plain/loops/loops.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

/// Along each row: what `next` makes of the last result, at first `start`, and an element.
template <class Next>
lt::Program along_rows(int m, int n, const Next& next) {
  return lt::script("rows", [&](lt::Script& p) {
    auto x = p.input<float>("x", {m, n});
    auto y = p.output<float>("y", {m, n});
    p.for_("i", m, [&](lt::Var i) {
      auto last = p.local<float>("last", {});
      p.store(last(), 0.0f);
      p.for_("t", n, [&](lt::Var t) {
        p.store(last(), next(last(), x(i, t)));
        p.store(y(i, t), last());
      });
    });
  });
}

/// The same along each column, all columns a step at a time.
template <class Next>
lt::Program along_columns(int m, int n, const Next& next) {
  return lt::script("columns", [&](lt::Script& p) {
    auto x = p.input<float>("x", {m, n});
    auto y = p.output<float>("y", {m, n});
    p.for_("j", n, [&](lt::Var j) { p.store(y(0, j), next(lt::Expr<float>(0), x(0, j))); });
    p.for_("t", 1, m, [&](lt::Var t) {
      p.for_("j", n, [&](lt::Var j) { p.store(y(t, j), next(y(t - 1, j), x(t, j))); });
    });
  });
}

constexpr auto filter = [](const auto& last, const auto& x) { return 0.25f * x + 0.75f * last; };
constexpr auto sum = [](const auto& last, const auto& x) { return last + x; };
constexpr auto most = [](const auto& last, const auto& x) { return lt::max(last, x); };

lt::Program filter_rows(int m, int n) { return along_rows(m, n, filter); }
lt::Program filter_columns(int m, int n) { return along_columns(m, n, filter); }
lt::Program sums_so_far_rows(int m, int n) { return along_rows(m, n, sum); }
lt::Program sums_so_far_columns(int m, int n) { return along_columns(m, n, sum); }
lt::Program most_so_far_rows(int m, int n) { return along_rows(m, n, most); }

lt::Program horner(int n, int degree) {
  return lt::script("horner", [&](lt::Script& p) {
    auto x = p.input<float>("x", {n});
    auto c = p.input<float>("c", {degree + 1});
    auto y = p.output<float>("y", {n});
    p.for_("i", n, [&](lt::Var i) {
      auto value = p.local<float>("value", {});
      p.store(value(), c(degree));
      p.for_("k", degree, [&](lt::Var k) { p.store(value(), value() * x(i) + c(degree - 1 - k)); });
      p.store(y(i), value());
    });
  });
}

lt::Program axpy_chain(int n) {
  lt::Input<float, 1> A("A", {n}), B("B", {n}), C("C", {n});
  auto total = lt::compute("total", {n}, [&](lt::Var i) { return 2 * A(i) + B(i); });
  auto times = lt::compute("times", {n}, [&](lt::Var i) { return total(i) * C(i) - A(i); });
  return lt::program_of(
      lt::compute("Y", {n}, [&](lt::Var i) { return times(i) * 0.5f + total(i); }));
}

lt::Program polynomial(int n) {
  lt::Input<float, 1> X("X", {n});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) {
    lt::Expr<float> total = 0.125f;
    for (int k = 0; k < 8; ++k) total = total * X(i) + 0.25f * static_cast<float>(k + 1);
    return total;
  }));
}

lt::Program sigmoid(int n) {
  lt::Input<float, 1> X("X", {n});
  return lt::program_of(
      lt::compute("Y", {n}, [&](lt::Var i) { return lt::sigmoid(4 * X(i) - 2); }));
}

lt::Program gelu(int n) {
  lt::Input<float, 1> X("X", {n});
  return lt::program_of(
      lt::compute("Y", {n}, [&](lt::Var i) { return lt::gelu_tanh(4 * X(i) - 2); }));
}

lt::Program exp_chain(int n) {
  lt::Input<float, 1> X("X", {n});
  return lt::program_of(lt::compute(
      "Y", {n}, [&](lt::Var i) { return lt::log(1 + lt::exp(-X(i))) * lt::exp(-X(i) * X(i)); }));
}

lt::Program select_chain(int n) {
  lt::Input<float, 1> X("X", {n});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) {
    auto x = X(i);
    auto upper = lt::select(x < 0.75f, x * x + 0.5f, 1.0625f);
    return lt::select(x < 0.25f, 4 * x, lt::select(x < 0.5f, 1.25f - x, upper));
  }));
}

// Eight steps, written as one expression.
lt::Program mandelbrot(int n) {
  lt::Input<float, 1> A("A", {n}), B("B", {n});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) {
    lt::Expr<float> u = 0, v = 0;
    for (int step = 0; step < 8; ++step) {
      lt::Expr<float> next = u * u - v * v + (A(i) - 0.5f);
      v = 2 * u * v + (B(i) - 0.5f);
      u = next;
    }
    return u * u + v * v;
  }));
}

lt::Program bias_relu_residual(int m, int n) {
  lt::Input<float, 2> X("X", {m, n}), R("R", {m, n});
  lt::Input<float, 1> bias("bias", {n});
  return lt::program_of(lt::compute(
      "Y", {m, n}, [&](lt::Var i, lt::Var j) { return lt::relu(X(i, j) - bias(j)) + R(i, j); }));
}

lt::Program length(int n) {
  lt::Input<float, 1> A("A", {n}), B("B", {n});
  return lt::program_of(
      lt::compute("Y", {n}, [&](lt::Var i) { return lt::sqrt(A(i) * A(i) + B(i) * B(i)); }));
}

}  // namespace

PlainPrograms recurrence_programs() {
  const Shape some = {between(30, 300), between(50, 500)};
  return {
      {"filter of rows", filter_rows, loops::filter_rows, {{256, 256}, some}},
      {"filter of columns", filter_columns, loops::filter_columns, {{256, 256}, some}},
      {"sums so far of rows", sums_so_far_rows, loops::sums_so_far_rows, {{256, 256}, some}},
      {"sums so far of columns",
       sums_so_far_columns,
       loops::sums_so_far_columns,
       {{256, 256}, some}},
      {"maxima so far of rows", most_so_far_rows, loops::most_so_far_rows, {{256, 256}, some}},
      {"Horner's rule",
       horner,
       loops::horner,
       {{5000, 12}, {between(2000, 10000), between(5, 30)}}},
  };
}

PlainPrograms elementwise_programs() {
  const Size some = between(3000, 100000);
  return {
      {"axpy chain", axpy_chain, loops::axpy_chain, {{20000}, {3000000}, {some}}},
      {"polynomial", polynomial, loops::polynomial, {{20000}, {some}}},
      {"sigmoid", sigmoid, loops::sigmoid, {{20000}, {some}}},
      {"gelu", gelu, loops::gelu, {{20000}, {some}}},
      {"exp and log", exp_chain, loops::exp_chain, {{20000}, {some}}},
      {"selects", select_chain, loops::select_chain, {{20000}, {some}}},
      {"mandelbrot of 8 steps", mandelbrot, loops::mandelbrot, {{20000}, {some}}},
      {"bias, relu, residual",
       bias_relu_residual,
       loops::bias_relu_residual,
       {{128, 256}, {between(30, 300), between(30, 300)}}},
      {"lengths", length, loops::length, {{20000}, {some}}},
  };
}

}  // namespace bench
#endif
