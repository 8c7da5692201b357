// Recurrences, and one element after the other.
#include "plain/loops/exact_loops.hpp"
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

template <class N>
lt::Program axpy_chain(N n) {
  lt::Input<float, 1> A("A", {n}), B("B", {n}), C("C", {n});
  auto total = lt::compute("total", {n}, [&](lt::Var i) { return 2 * A(i) + B(i); });
  auto times = lt::compute("times", {n}, [&](lt::Var i) { return total(i) * C(i) - A(i); });
  return lt::program_of(
      lt::compute("Y", {n}, [&](lt::Var i) { return times(i) * 0.5f + total(i); }));
}

lt::Program momentum(int n) {
  lt::Input<float, 1> W("W", {n}), U("U", {n}), G("G", {n});
  auto v = lt::compute("v", {n}, [&](lt::Var i) { return 0.9f * U(i) + (G(i) + 1e-4f * W(i)); });
  auto w = lt::compute("w", {n}, [&](lt::Var i) { return W(i) - 0.01f * v(i); });
  return lt::program_of(lt::outputs(v, w));
}

lt::Program polynomial(int n) {
  lt::Input<float, 1> X("X", {n});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) {
    lt::Expr<float> total = 0.125f;
    for (int k = 0; k < 8; ++k) total = total * X(i) + 0.25f * static_cast<float>(k + 1);
    return total;
  }));
}

template <class N>
lt::Program sigmoid(N n) {
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

template <class N>
lt::Program bias_relu_residual(N m, N n) {
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

// The cheapest way from the first row down to each element, a column aside at most in each step.
lt::Program seam_costs(int m, int n) {
  return lt::script("seams", [&](lt::Script& p) {
    auto x = p.input<float>("x", {m, n + 2});
    auto y = p.output<float>("y", {m, n + 2});
    p.for_("j", n + 2, [&](lt::Var j) { p.store(y(0, j), x(0, j)); });
    p.for_("t", 1, m, [&](lt::Var t) {
      p.store(y(t, 0), y(t - 1, 0) + x(t, 0));
      p.store(y(t, n + 1), y(t - 1, n + 1) + x(t, n + 1));
      p.for_("j", 1, n + 1, [&](lt::Var j) {
        p.store(y(t, j), x(t, j) + lt::fast_min(lt::fast_min(y(t - 1, j - 1), y(t - 1, j)),
                                                y(t - 1, j + 1)));
      });
    });
  });
}

// One step of an LSTM cell behind its products: gates i, f, g, o.
lt::Program lstm_gates(int m, int n) {
  lt::Input<float, 3> gates("gates", {m, 4, n});
  lt::Input<float, 2> cell("cell", {m, n});
  auto next = lt::compute("next", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sigmoid(gates(i, 1, j)) * cell(i, j) +
           lt::sigmoid(gates(i, 0, j)) * lt::tanh(gates(i, 2, j));
  });
  auto out = lt::compute("out", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sigmoid(gates(i, 3, j)) * lt::tanh(next(i, j));
  });
  return lt::program_of(lt::outputs(next, out));
}

lt::Program swiglu(int m, int n) {
  lt::Input<float, 2> X("X", {m, 2 * n});
  return lt::program_of(lt::compute(
      "Y", {m, n}, [&](lt::Var i, lt::Var j) { return lt::silu(X(i, j)) * X(i, n + j); }));
}

// Rotary embedding: the halves of each row turn by an angle for each pair.
lt::Program rotation(int m, int n) {
  lt::Input<float, 2> X("X", {m, 2 * n}), C("C", {m, n}), S("S", {m, n});
  return lt::program_of(lt::compute("Y", {m, 2 * n}, [&](lt::Var i, lt::Var j) {
    return lt::select(j < n, X(i, j) * C(i, j) - X(i, j + n) * S(i, j),
                      X(i, j) * C(i, j - n) + X(i, j - n) * S(i, j - n));
  }));
}

// Prices of call options: stock, strike, time; rate 0.02, volatility 0.3.
lt::Program black_scholes(int n) {
  lt::Input<float, 1> A("A", {n}), K("K", {n}), T("T", {n});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) {
    auto stock = A(i) * 20.0f + 90.0f, strike = K(i) * 20.0f + 90.0f, time = T(i) + 0.25f;
    auto spread = 0.3f * lt::sqrt(time);
    auto d = (lt::log(stock / strike) + 0.065f * time) / spread;
    const auto normal = [](const auto& x) { return 0.5f + 0.5f * lt::erf(x * 0.70710678f); };
    return stock * normal(d) - strike * lt::exp(-0.02f * time) * normal(d - spread);
  }));
}

lt::Program sine_and_cosine(int n) {
  lt::Input<float, 1> X("X", {n});
  return lt::program_of(
      lt::compute("Y", {n}, [&](lt::Var i) { return lt::sin(X(i) * 6) * lt::cos(X(i) * 3); }));
}

}  // namespace

PlainPrograms recurrence_programs() {
  const Shape some = {between(100, 300), between(100, 500)};
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
       {{10000, 12}, {between(5000, 20000), between(8, 30)}}},
      {"costs of seams", seam_costs, loops::seam_costs, {{128, 512}, some}},
  };
}

PlainPrograms elementwise_programs() {
  const Size some = between(20000, 100000);
  return {
      {"axpy chain", axpy_chain<int>, loops::axpy_chain, {{20000}, {3000000}, {some}}},
      {"momentum", momentum, loops::momentum, {{20000}, {1000000}, {some}}},
      {"polynomial", polynomial, loops::polynomial, {{20000}, {some}}},
      {"sigmoid", sigmoid<int>, both(loops::sigmoid, exact_loops::sigmoid), {{20000}, {some}}},
      {"gelu", gelu, both(loops::gelu, exact_loops::gelu), {{20000}, {some}}},
      {"exp and log", exp_chain, loops::exp_chain, {{20000}, {some}}},
      {"selects", select_chain, loops::select_chain, {{20000}, {some}}},
      {"mandelbrot of 8 steps", mandelbrot, loops::mandelbrot, {{20000}, {some}}},
      {"bias, relu, residual",
       bias_relu_residual<int>,
       loops::bias_relu_residual,
       {{128, 512}, {between(150, 300), between(150, 300)}}},
      {"lengths", length, both(loops::length, exact_loops::length), {{20000}, {some}}},
      {"LSTM gates",
       lstm_gates,
       both(loops::lstm_gates, exact_loops::lstm_gates),
       {{32, 256}, {between(20, 80), between(64, 400)}}},
      {"SwiGLU",
       swiglu,
       both(loops::swiglu, exact_loops::swiglu),
       {{64, 512}, {between(20, 100), between(100, 600)}}},
      {"rotation of halves",
       rotation,
       loops::rotation,
       {{256, 32}, {between(100, 500), between(16, 128)}}},
      {"Black-Scholes",
       black_scholes,
       both(loops::black_scholes, exact_loops::black_scholes),
       {{10000}, {some}},
       {.bound = 1e-4}},
      {"sine and cosine", sine_and_cosine, loops::sine_and_cosine, {{20000}, {some}}},
      {"axpy chain of any size", axpy_chain<lt::Dim>, loops::axpy_chain, {{20000}, {some}}},
      {"sigmoid of any size",
       sigmoid<lt::Dim>,
       both(loops::sigmoid, exact_loops::sigmoid),
       {{20000}, {some}}},
      {"bias, relu, residual of any size",
       bias_relu_residual<lt::Dim>,
       loops::bias_relu_residual,
       {{128, 500}, {between(150, 300), between(150, 300)}}},
  };
}

}  // namespace bench
#endif
