// Sizes are those of "Ansor: Generating High-Performance Tensor Programs for Deep Learning"
// (OSDI 2020), single operators; layers of ResNet, DCGAN, MobileNet and BERT among them.
#include "ansor/sizes.hpp"

#include <initializer_list>

#include "core/draw.hpp"

namespace bench {

namespace {

using Kind = Convolution::Kind;

/// Extent of each axis, channels, filters, kernel, stride, padding.
struct Row {
  int extent, channels, filters, kernel, stride, pad;
};
constexpr Row lines[] = {{256, 64, 128, 3, 2, 1},
                         {128, 128, 256, 1, 2, 0},
                         {64, 256, 256, 5, 1, 2},
                         {32, 512, 512, 3, 1, 1}};
constexpr Row images[] = {
    {224, 3, 64, 7, 2, 3}, {56, 64, 64, 1, 1, 0}, {14, 256, 256, 3, 1, 1}, {7, 512, 512, 3, 1, 1}};
constexpr Row grouped[] = {
    {56, 64, 128, 3, 2, 1}, {56, 64, 64, 1, 1, 0}, {14, 256, 256, 3, 1, 1}, {7, 512, 512, 3, 1, 1}};
constexpr Row depthwise[] = {{112, 32, 32, 3, 1, 1},
                             {112, 64, 64, 3, 2, 1},
                             {14, 512, 512, 3, 2, 1},
                             {7, 1024, 1024, 3, 1, 1}};
constexpr Row transposed[] = {
    {4, 512, 256, 4, 2, 1}, {8, 256, 128, 4, 2, 1}, {16, 128, 64, 4, 2, 1}, {32, 64, 3, 4, 2, 1}};
constexpr Row capsules[] = {
    {16, 32, 32, 3, 2, 1}, {8, 32, 32, 3, 1, 1}, {16, 8, 16, 3, 2, 1}, {8, 16, 16, 3, 1, 1}};
constexpr Row with_bias[] = {{224, 3, 64, 7, 2, 3},
                             {56, 64, 64, 3, 2, 1},
                             {56, 64, 128, 3, 2, 1},
                             {28, 128, 256, 1, 2, 0},
                             {7, 512, 512, 3, 1, 1}};

constexpr int group_count = 4, depth = 16;

std::string text(std::initializer_list<int> numbers) {
  std::string out;
  for (const int n : numbers) {
    if (!out.empty()) out += 'x';
    out += std::to_string(n);
  }
  return out;
}

std::string name_of(const Convolution& p) {
  std::string out;
  for (const int extent : p.image) out += std::to_string(extent), out += 'x';
  out += std::to_string(p.channels);
  if (p.kind != Kind::depthwise) out += 'x', out += std::to_string(p.filters);
  const auto add = [&](const char* what, int n) { out += what, out += std::to_string(n); };
  add(" k", p.kernel), add(" s", p.stride), add(" p", p.pad);
  return out;
}
std::string name_of(const BatchedProduct& p) { return text({p.n, p.m, p.k}); }
std::string name_of(const Norm& p) { return text({p.n, p.m}); }
std::string name_of(const Softmax& p) { return text({p.n, p.m}); }
std::string name_of(const Scores& p) { return text({p.length, p.heads, p.width}); }

/// Collects the sizes of families, each with a drawn one last.
class Families {
 public:
  Families(unsigned seed, int batch) : seed_(seed), batch_(batch) {}

  /// `base` has what the rows do not say, and how many axes images have.
  template <std::size_t N>
  void convolutions(const char* family, Convolution base, const Row (&rows)[N]) {
    for (const Row& row : rows) add(family, in_size(base, row), "");
    add(family, in_size(base, drawn(family, base)), " drawn");
  }
  template <class P, class F>
  void others(const char* family, std::initializer_list<P> sizes, const F& drawn) {
    for (const P& size : sizes) add(family, size, "");
    Draw draw(seed_, family);
    add(family, drawn(draw), " drawn");
  }
  std::vector<Operator> all;

 private:
  static Convolution in_size(Convolution p, const Row& row) {
    // A third axis, the first one, is shorter than the others and of one length.
    for (std::size_t axis = 0; axis < p.image.size(); ++axis)
      p.image[axis] = p.image.size() == 3 && axis == 0 ? depth : row.extent;
    p.channels = row.channels, p.filters = row.filters;
    p.kernel = row.kernel, p.stride = row.stride, p.pad = row.pad;
    if (p.kind == Kind::depthwise) p.groups = p.channels;
    return p;
  }
  /// Channels are multiples of the groups, not of a vector. Volumes have more pixels and taps, and
  /// less of the rest.
  Row drawn(const char* family, const Convolution& base) const {
    Draw draw(seed_, family);
    const bool capsule = base.kind == Kind::capsule, turned = base.kind == Kind::transposed;
    const std::size_t axes = base.image.size();
    const int extent = axes == 1   ? draw.from(30, 250)
                       : axes == 2 ? draw.from(7, capsule ? 16 : 40)
                                   : draw.from(7, 20);
    const int least = capsule ? 4 : 16, most = capsule ? 32 : axes == 3 ? 64 : 200;
    const int channels = draw.from(least, most, 4), filters = draw.from(least, most, 4);
    if (turned) return {extent, channels, filters, 4, 2, 1};
    const int kernel = draw.from(1, axes == 3 ? 3 : 5, 2), stride = draw.from(1, 2);
    return {extent, channels, base.kind == Kind::depthwise ? channels : filters,
            kernel, stride,   kernel / 2 * base.dilation};
  }
  template <class P>
  void add(const char* family, const P& problem, const char* note) {
    const std::string start = family + (" b" + std::to_string(batch_));
    all.push_back({start, start + " " + name_of(problem) + note, batch_, problem});
  }

  unsigned seed_;
  int batch_;
};

void add_convolutions(Families& to) {
  const std::vector<int> line(1), image(2), volume(3);
  to.convolutions("C1D", {.image = line}, lines);
  to.convolutions("C2D", {.image = image}, images);
  to.convolutions("C3D", {.image = volume}, images);
  to.convolutions("GRP", {.image = image, .groups = group_count}, grouped);
  to.convolutions("DIL", {.image = image, .dilation = 2}, images);
  to.convolutions("DEP", {.kind = Kind::depthwise, .image = image}, depthwise);
  to.convolutions("T2D", {.kind = Kind::transposed, .image = image}, transposed);
  to.convolutions("CAP", {.kind = Kind::capsule, .image = image}, capsules);
  to.convolutions("CBR", {.kind = Kind::bias_relu, .image = image}, with_bias);
}

void add_others(Families& to) {
  to.others<BatchedProduct>(
      "GMM", {{128, 128, 128}, {512, 32, 512}, {512, 512, 512}, {1024, 1024, 1024}}, [](Draw& d) {
        return BatchedProduct{d.from(30, 600), d.from(30, 600), d.from(30, 600)};
      });
  to.others<Norm>("NRM", {{256, 256}, {512, 512}, {1024, 1024}, {4096, 1024}}, [](Draw& d) {
    return Norm{d.from(100, 1500), d.from(100, 1500)};
  });
  to.others<Softmax>("SFM", {{256, 256}, {512, 512}, {1024, 1024}, {2048, 2048}}, [](Draw& d) {
    return Softmax{d.from(100, 1500), d.from(100, 1500)};
  });
  for (const bool softmax : {false, true})
    to.others<Scores>(softmax ? "TBS" : "TBG",
                      {{128, 12, 64, softmax},
                       {128, 16, 64, softmax},
                       {64, 12, 128, softmax},
                       {128, 12, 128, softmax}},
                      [&](Draw& d) {
                        return Scores{d.from(30, 200), d.from(4, 16), d.from(32, 128, 4), softmax};
                      });
}

}  // namespace

std::vector<Operator> ansor_operators(unsigned seed) {
  std::vector<Operator> out;
  for (const int batch : {1, 16}) {
    Families families(seed, batch);
    add_convolutions(families);
    add_others(families);
    out.insert(out.end(), families.all.begin(), families.all.end());
  }
  return out;
}

}  // namespace bench
