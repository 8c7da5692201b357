// Sizes are those of "Ansor: Generating High-Performance Tensor Programs for Deep Learning"
// (OSDI 2020), single operators; layers of ResNet, DCGAN, MobileNet and BERT among them.
#include "operators/ansor_sizes.hpp"

#include "operators/families.hpp"

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

Convolution in_size(Convolution p, const Row& row) {
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
Row drawn_row(Draw draw, const Convolution& base) {
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

/// `base` has what the rows do not say, and how many axes images have.
template <std::size_t N>
void add(Families& to, const char* family, const Convolution& base, const Row (&rows)[N]) {
  for (const Row& row : rows) to.add_one(family, in_size(base, row));
  to.add_one(family, in_size(base, drawn_row(to.draw_for(family), base)), " drawn");
}

void add_convolutions(Families& to) {
  const std::vector<int> line(1), image(2), volume(3);
  add(to, "C1D", {.image = line}, lines);
  add(to, "C2D", {.image = image}, images);
  add(to, "C3D", {.image = volume}, images);
  add(to, "GRP", {.image = image, .groups = group_count}, grouped);
  add(to, "DIL", {.image = image, .dilation = 2}, images);
  add(to, "DEP", {.kind = Kind::depthwise, .image = image}, depthwise);
  add(to, "T2D", {.kind = Kind::transposed, .image = image}, transposed);
  add(to, "CAP", {.kind = Kind::capsule, .image = image}, capsules);
  add(to, "CBR", {.kind = Kind::bias_relu, .image = image}, with_bias);
}

void add_others(Families& to) {
  to.add<BatchedProduct>(
      "GMM", {{128, 128, 128}, {512, 32, 512}, {512, 512, 512}, {1024, 1024, 1024}}, [](Draw& d) {
        return BatchedProduct{d.from(30, 600), d.from(30, 600), d.from(30, 600)};
      });
  to.add<Norm>("NRM", {{256, 256}, {512, 512}, {1024, 1024}, {4096, 1024}}, [](Draw& d) {
    return Norm{d.from(100, 1500), d.from(100, 1500)};
  });
  to.add<Softmax>("SFM", {{256, 256}, {512, 512}, {1024, 1024}, {2048, 2048}}, [](Draw& d) {
    return Softmax{d.from(100, 1500), d.from(100, 1500)};
  });
  for (const bool softmax : {false, true})
    to.add<Scores>(softmax ? "TBS" : "TBG",
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
    Families families(seed, batch, " b" + std::to_string(batch));
    add_convolutions(families);
    add_others(families);
    out.insert(out.end(), families.all.begin(), families.all.end());
  }
  return out;
}

}  // namespace bench
