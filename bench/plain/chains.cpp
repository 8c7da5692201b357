// Chains of steps along rows, and attention.
#include <limits>

#include "plain/loops/exact_loops.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class N>
lt::Program softmax(N m, N n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n), q("q", n);
  auto top = lt::compute("top", {m}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto part =
      lt::compute("part", {m, n}, [&](lt::Var i, lt::Var j) { return lt::exp(X(i, j) - top(i)); });
  auto total = lt::compute("total", {m}, [&](lt::Var i) { return lt::sum(part(i, q), q); });
  return lt::program_of(
      lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return part(i, j) / total(i); }));
}

lt::Program log_softmax(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n), q("q", n);
  auto top = lt::compute("top", {m}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto total =
      lt::compute("total", {m}, [&](lt::Var i) { return lt::sum(lt::exp(X(i, q) - top(i)), q); });
  return lt::program_of(lt::compute(
      "Y", {m, n}, [&](lt::Var i, lt::Var j) { return X(i, j) - (top(i) + lt::log(total(i))); }));
}

lt::Program layer_norm(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Input<float, 1> gain("gain", {n}), bias("bias", {n});
  lt::Reduce r("r", n), q("q", n);
  auto total = lt::compute("total", {m}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  auto mean = lt::compute("mean", {m}, [&](lt::Var i) { return total(i) * (1.0f / n); });
  auto squares = lt::compute("squares", {m}, [&](lt::Var i) {
    auto d = X(i, q) - mean(i);
    return lt::sum(d * d, q);
  });
  return lt::program_of(lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) {
    return (X(i, j) - mean(i)) * lt::rsqrt(squares(i) * (1.0f / n) + 1e-5f) * gain(j) + bias(j);
  }));
}

lt::Program rms_norm(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Input<float, 1> gain("gain", {n});
  lt::Reduce r("r", n);
  auto squares =
      lt::compute("squares", {m}, [&](lt::Var i) { return lt::sum(X(i, r) * X(i, r), r); });
  return lt::program_of(lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) {
    return X(i, j) * lt::rsqrt(squares(i) * (1.0f / n) + 1e-5f) * gain(j);
  }));
}

lt::Program unit_rows(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  auto squares =
      lt::compute("squares", {m}, [&](lt::Var i) { return lt::sum(X(i, r) * X(i, r), r); });
  return lt::program_of(lt::compute(
      "Y", {m, n}, [&](lt::Var i, lt::Var j) { return X(i, j) / lt::sqrt(squares(i)); }));
}

lt::Program cross_entropy(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Input<std::int32_t, 1> label("label", {m});
  lt::Reduce r("r", n), q("q", n);
  auto top = lt::compute("top", {m}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto total =
      lt::compute("total", {m}, [&](lt::Var i) { return lt::sum(lt::exp(X(i, q) - top(i)), q); });
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) {
    return top(i) + lt::log(total(i)) - X(i, lt::cast<std::int64_t>(label(i)));
  }));
}

/// Of h heads over keys and values of n tokens, which `sharing` heads share; a causal query sees no
/// token behind its own.
lt::Program attend(int h, int queries, int n, int d, bool causal, int sharing = 1) {
  lt::Input<float, 3> Q("Q", {h, queries, d});
  lt::Input<float, 3> K("K", {h / sharing, n, d}), V("V", {h / sharing, n, d});
  lt::Reduce e("e", d), r("r", n), q("q", n), t("t", n);
  auto dots = lt::compute("dots", {h, queries, n}, [&](lt::Var z, lt::Var i, lt::Var j) {
    return lt::sum(Q(z, i, e) * K(z / sharing, j, e), e);
  });
  auto scores = lt::compute("scores", {h, queries, n}, [&](lt::Var z, lt::Var i, lt::Var j) {
    auto score = dots(z, i, j) * (1 / std::sqrt(static_cast<float>(d)));
    return causal ? lt::select(j <= i, score, -infinity) : score;
  });
  auto top = lt::compute("top", {h, queries},
                         [&](lt::Var z, lt::Var i) { return lt::reduce_max(scores(z, i, r), r); });
  auto part = lt::compute("part", {h, queries, n}, [&](lt::Var z, lt::Var i, lt::Var j) {
    return lt::exp(scores(z, i, j) - top(z, i));
  });
  auto total = lt::compute("total", {h, queries},
                           [&](lt::Var z, lt::Var i) { return lt::sum(part(z, i, q), q); });
  auto mixed = lt::compute("mixed", {h, queries, d}, [&](lt::Var z, lt::Var i, lt::Var c) {
    return lt::sum(part(z, i, t) * V(z / sharing, t, c), t);
  });
  return lt::program_of(lt::compute("Y", {h, queries, d}, [&](lt::Var z, lt::Var i, lt::Var c) {
    return mixed(z, i, c) / total(z, i);
  }));
}

lt::Program attention(int n, int d) { return attend(1, n, n, d, false); }
lt::Program causal_attention(int n, int d) { return attend(1, n, n, d, true); }
lt::Program attention_heads(int h, int n, int d) { return attend(h, n, n, d, false); }
lt::Program one_query(int h, int n, int d) { return attend(h, 1, n, d, false); }
lt::Program shared_heads(int h, int n, int d) { return attend(h, n, n, d, false, 4); }

// Heads are inside of tokens.
lt::Program scores(int n, int h, int d) {
  lt::Input<float, 3> Q("Q", {n, h, d}), K("K", {n, h, d});
  lt::Reduce e("e", d);
  return lt::program_of(lt::compute("S", {h, n, n}, [&](lt::Var t, lt::Var i, lt::Var j) {
    return lt::sum(Q(i, t, e) * K(j, t, e), e);
  }));
}

// Images of h x w = n pixels NCHW, in groups of so many channels.
lt::Program group_norm(int groups, int channels, int n) {
  lt::Input<float, 3> X("X", {groups, channels, n});
  lt::Input<float, 2> gain("gain", {groups, channels});
  lt::Reduce c("c", channels), p("p", n), d("d", channels), q("q", n);
  const float share = 1.0f / static_cast<float>(channels * n);
  auto total = lt::compute("total", {groups}, [&](lt::Var g) {
    return lt::sum(X(g, c, p), {c, p});
  });
  auto mean = lt::compute("mean", {groups}, [&](lt::Var g) { return total(g) * share; });
  auto squares = lt::compute("squares", {groups}, [&](lt::Var g) {
    auto apart = X(g, d, q) - mean(g);
    return lt::sum(apart * apart, {d, q});
  });
  return lt::program_of(
      lt::compute("Y", {groups, channels, n}, [&](lt::Var g, lt::Var k, lt::Var i) {
        return (X(g, k, i) - mean(g)) * lt::rsqrt(squares(g) * share + 1e-5f) * gain(g, k);
      }));
}

// Row i has the first i + 1 elements.
lt::Program causal_softmax(int n) {
  lt::Input<float, 2> X("X", {n, n});
  lt::Reduce r("r", n), q("q", n);
  auto seen = lt::compute(
      "seen", {n, n}, [&](lt::Var i, lt::Var j) { return lt::select(j <= i, X(i, j), -infinity); });
  auto top = lt::compute("top", {n}, [&](lt::Var i) { return lt::reduce_max(seen(i, r), r); });
  auto part = lt::compute("part", {n, n},
                          [&](lt::Var i, lt::Var j) { return lt::exp(seen(i, j) - top(i)); });
  auto total = lt::compute("total", {n}, [&](lt::Var i) { return lt::sum(part(i, q), q); });
  return lt::program_of(
      lt::compute("Y", {n, n}, [&](lt::Var i, lt::Var j) { return part(i, j) / total(i); }));
}

}  // namespace

PlainPrograms row_chain_programs() {
  const Shape some = {between(60, 200), between(100, 700)};
  return {
      {"softmax", softmax<int>, loops::softmax, {{128, 1024}, {1000, 10}, some}},
      {"log-softmax", log_softmax, loops::log_softmax, {{128, 512}, some}},
      {"layer norm",
       layer_norm,
       both(loops::layer_norm, exact_loops::layer_norm),
       {{128, 768}, some}},
      {"RMS norm", rms_norm, both(loops::rms_norm, exact_loops::rms_norm), {{128, 768}, some}},
      {"rows of length 1",
       unit_rows,
       both(loops::unit_rows, exact_loops::unit_rows),
       {{512, 128}, some}},
      {"cross entropy",
       cross_entropy,
       loops::cross_entropy,
       {{64, 1000}, some},
       {.positions_in = 1}},
      {"group norm",
       group_norm,
       both(loops::group_norm, exact_loops::group_norm),
       {{16, 8, 196}, {between(8, 32), between(4, 16), between(49, 400)}}},
      {"causal softmax", causal_softmax, loops::causal_softmax, {{256}, {between(100, 400)}}},
      {"softmax of any size", softmax<lt::Dim>, loops::softmax, {{128, 512}, some}},
  };
}

PlainPrograms attention_programs() {
  return {
      {"attention", attention, loops::attention, {{128, 64}, {between(40, 200), between(16, 80)}}},
      {"causal attention",
       causal_attention,
       loops::causal_attention,
       {{128, 64}, {between(40, 200), between(16, 80)}}},
      {"attention of heads",
       attention_heads,
       loops::attention_heads,
       {{4, 64, 32}, {between(2, 8), between(20, 100), 32}}},
      {"attention of one query",
       one_query,
       loops::one_query,
       {{8, 256, 64}, {between(2, 12), between(50, 500), 64}}},
      {"Q K' with heads inside",
       scores,
       loops::scores,
       {{64, 4, 64}, {between(30, 100), between(2, 8), 32}}},
      {"attention of shared heads",
       shared_heads,
       loops::shared_heads,
       {{8, 64, 32}, {between(4, 8, 4), between(20, 100), 32}}},
  };
}

}  // namespace bench
#endif
