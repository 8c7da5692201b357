// Lanes that lie apart in memory: pixels of several channels.
#include <cstring>

#include "hand/cases.hpp"
#include "hand/plain.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

Comparison gray(int pixels) {
  auto data = std::make_shared<HandArrays<std::uint8_t>>(3 * pixels, 0, pixels);
  lt::Input<std::uint8_t, 2> X("X", {pixels, 3});
  auto Y = lt::compute("Y", {pixels}, [&](lt::Var i) {
    const auto part = [&](int channel, std::uint16_t weight) {
      return lt::cast<std::uint16_t>(X(i, channel)) * weight;
    };
    return lt::cast<std::uint8_t>((part(0, 77) + part(1, 150) + part(2, 29)) >> std::uint16_t(8));
  });
  lt::Schedule s(Y);
  s.vectorize(s.split<2>(s.loops(Y)[0], {lt::infer, lt::host().lanes(2)})[1]);
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, X, Y);
  return hand_case<std::uint8_t>(
      "u8", data,
      [=] {
        kernel(lt::view(data->in, {pixels, 3}), data->got);
      },
      [=] { plain_gray(data->in.data(), data->want.data(), pixels); });
}

template <class T>
std::function<void()> copy_of(const std::shared_ptr<HandArrays<T>>& data) {
  return [data] { std::memcpy(data->want.data(), data->in.data(), sizeof(T) * data->in.size()); };
}

template <class T>
const char* dtype_text() {
  return sizeof(T) == 1 ? "u8" : "f32";
}

// A vector of each channel, one after the other.
void by_vectors(lt::Schedule& s, lt::LoopRef channel, lt::LoopRef pixel, int lanes) {
  auto [outer, lane] = s.split<2>(pixel, {lt::infer, lanes});
  s.reorder({outer, channel, lane});
  s.unroll(channel);
  s.vectorize(lane);
}

template <class T, int Channels>
Comparison split(int n) {
  auto data = std::make_shared<HandArrays<T>>(Channels * n, 0, Channels * n);
  lt::Input<T, 2> X("X", {n, Channels});
  auto Y = lt::compute("Y", {Channels, n}, [&](lt::Var c, lt::Var i) { return X(i, c); });
  lt::Schedule s(Y);
  auto [c, i] = s.template loops<2>(Y);
  by_vectors(s, c, i, lt::host().lanes(sizeof(T)));
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, X, Y);
  Comparison out = hand_case<T>(
      dtype_text<T>(), data,
      [=] {
        kernel(lt::view(data->in, {n, Channels}), lt::view(data->got, {Channels, n}));
      },
      [=] { plain_split<T, Channels>(data->in.data(), data->want.data(), n); });
  out.all.push_back({"memcpy", copy_of(data)});
  return out;
}

template <class T, int Channels>
Comparison merge(int n) {
  auto data = std::make_shared<HandArrays<T>>(Channels * n, 0, Channels * n);
  lt::Input<T, 2> X("X", {Channels, n});
  auto Y = lt::compute("Y", {n, Channels}, [&](lt::Var i, lt::Var c) { return X(c, i); });
  lt::Schedule s(Y);
  auto [i, c] = s.template loops<2>(Y);
  by_vectors(s, c, i, lt::host().lanes(sizeof(T)));
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, X, Y);
  Comparison out = hand_case<T>(
      dtype_text<T>(), data,
      [=] {
        kernel(lt::view(data->in, {Channels, n}), lt::view(data->got, {n, Channels}));
      },
      [=] { plain_merge<T, Channels>(data->in.data(), data->want.data(), n); });
  out.all.push_back({"memcpy", copy_of(data)});
  return out;
}

}  // namespace

std::vector<HandProgram> lane_programs() {
  return {{"RGB to gray u8", [] { return gray(1000 * 1000); }},
          {"split 3 channels u8", [] { return split<std::uint8_t, 3>(100003); }},
          {"split 4 channels u8", [] { return split<std::uint8_t, 4>(100003); }},
          {"split 3 channels f32", [] { return split<float, 3>(25003); }},
          {"split 4 channels f32", [] { return split<float, 4>(25003); }},
          {"merge 3 channels u8", [] { return merge<std::uint8_t, 3>(100003); }},
          {"merge 4 channels u8", [] { return merge<std::uint8_t, 4>(100003); }},
          {"merge 3 channels f32", [] { return merge<float, 3>(25003); }},
          {"merge 4 channels f32", [] { return merge<float, 4>(25003); }}};
}

}  // namespace bench
#else
namespace bench {

std::vector<HandProgram> lane_programs() { return {}; }

}  // namespace bench
#endif
