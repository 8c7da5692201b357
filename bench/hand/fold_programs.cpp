// Folds of rows in lanes.
#include "hand/cases.hpp"
#include "hand/plain.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

// Four vectors wait for each other less than one.
int fold_width(int bytes) { return 4 * lt::host().lanes(bytes); }

Comparison dot(int n) {
  auto data = std::make_shared<HandArrays<float>>(n, n, 1);
  lt::Input<float, 1> A("A", {n}), B("B", {n});
  lt::Reduce r("r", n);
  auto S = lt::compute("S", {}, [&] { return lt::sum(A(r) * B(r), r); });
  lt::Schedule s(S);
  s.fold_lanes(s.loops(S)[0], fold_width(4));
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, A, B, S);
  Comparison made = hand_case<float>(
      "f32", data, [=] { kernel(data->in, data->other, data->got[0]); },
      [=] { data->want[0] = plain_dot(data->in.data(), data->other.data(), n); });
  made.flops = 2.0 * n;
  return made;
}

template <class Fold>
Comparison rows(int m, int n, const Fold& fold, void (*plain)(const float*, float*, int, int)) {
  auto data = std::make_shared<HandArrays<float>>(static_cast<std::size_t>(m) * n, 0, m);
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  auto S = lt::compute("S", {m}, [&](lt::Var i) { return fold(X(i, r), r); });
  lt::Schedule s(S);
  s.fold_lanes(s.loops(S)[1], fold_width(4));
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, X, S);
  return hand_case<float>(
      "f32", data,
      [=] {
        kernel(lt::view(data->in, {m, n}), data->got);
      },
      [=] { plain(data->in.data(), data->want.data(), m, n); });
}

Comparison row_sums(int m, int n) {
  return rows(
      m, n, [](const auto& x, const auto& r) { return lt::sum(x, r); }, plain_row_sums);
}

Comparison row_maxima(int m, int n) {
  return rows(
      m, n, [](const auto& x, const auto& r) { return lt::reduce_max(x, r); }, plain_row_maxima);
}

// Values and positions, of which the values are compared.
Comparison row_argmax(int m, int n) {
  auto data = std::make_shared<HandArrays<float>>(static_cast<std::size_t>(m) * n, 0, m);
  auto at = std::make_shared<std::vector<std::int64_t>>(m);
  auto plain_at = std::make_shared<std::vector<std::int64_t>>(m);
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  auto A = lt::compute("A", {m}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  auto value = A.get<0>();
  auto position = A.get<1>();
  lt::Schedule s(lt::outputs(value, position));
  s.fold_lanes(s.loops("A")[1], fold_width(8));
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, X, value, position);
  Comparison made = hand_case<float>(
      "f32", data,
      [=] {
        kernel(lt::view(data->in, {m, n}), data->got, *at);
      },
      [=] { plain_row_argmax(data->in.data(), data->want.data(), plain_at->data(), m, n); });
  made.difference = [=, values = made.difference] {
    const std::string wrong = values();
    return wrong.empty() && *at != *plain_at ? "the positions" : wrong;
  };
  return made;
}

// Rows in turn share what they read of the vector.
Comparison matrix_vector(int m, int n) {
  auto data = std::make_shared<HandArrays<float>>(static_cast<std::size_t>(m) * n, n, m);
  lt::Input<float, 2> A("A", {m, n});
  lt::Input<float, 1> X("X", {n});
  lt::Reduce r("r", n);
  auto Y = lt::compute("Y", {m}, [&](lt::Var i) { return lt::sum(A(i, r) * X(r), r); });
  lt::Schedule s(Y);
  auto [i, q] = s.loops<2>(Y);
  auto [io, ii] = s.split<2>(i, {lt::infer, 4});
  s.reorder({io, q, ii});
  s.fold_lanes(q, lt::host().lanes(4));
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, A, X, Y);
  Comparison made = hand_case<float>(
      "f32", data,
      [=] {
        kernel(lt::view(data->in, {m, n}), data->other, data->got);
      },
      [=] { plain_matrix_vector(data->in.data(), data->other.data(), data->want.data(), m, n); });
  made.flops = 2.0 * m * n;
  return made;
}

}  // namespace

std::vector<HandProgram> fold_programs() {
  return {{"dot 200000", [] { return dot(200000); }},
          {"row sums 500x1003", [] { return row_sums(500, 1003); }},
          {"row sums 500x40", [] { return row_sums(500, 40); }},
          {"row maxima 500x1003", [] { return row_maxima(500, 1003); }},
          {"row argmax 500x1003", [] { return row_argmax(500, 1003); }},
          {"matrix by vector 1500x900", [] { return matrix_vector(1500, 900); }}};
}

}  // namespace bench
#else
namespace bench {

std::vector<HandProgram> fold_programs() { return {}; }

}  // namespace bench
#endif
