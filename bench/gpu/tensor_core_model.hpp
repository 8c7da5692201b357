// How a tensor core may add: exact products, aligned, cut off and added in groups.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

/// The operands of one element of D.
struct Dot {
  std::vector<double> a, b;
  float c;
};

/// Products of `group` neighbours are exact. They and the sum so far are cut off `bits` below the
/// largest exponent and added; the result is cut off to `width` bits.
struct Model {
  int group, bits, width;
  bool paired;      ///< a group has every other pair of neighbours in k
  bool normalised;  ///< a product's exponent is its own, not the sum of its factors' exponents
  bool joined;      ///< the sum starts as C; else as 0, and C is added to the end's in f32
};

// Cut off `bits` below the exponent `top`.
inline double cut(double value, int top, int bits) {
  return std::ldexp(std::trunc(std::ldexp(value, bits - top)), top - bits);
}

inline double add_group(const Model& model, const Dot& dot, int step, int first, double sum) {
  const auto place = [&](int i) {
    return step + (model.paired ? i % model.group / 2 * 4 + i / model.group * 2 + i % 2 : i);
  };
  int top = sum == 0 ? -10000 : std::ilogb(sum);
  for (int i = first; i < first + model.group; ++i) {
    const double a = dot.a[place(i)], b = dot.b[place(i)];
    if (a * b == 0) continue;
    top = std::max(top, model.normalised ? std::ilogb(a * b) : std::ilogb(a) + std::ilogb(b));
  }
  double total = cut(sum, top, model.bits);
  for (int i = first; i < first + model.group; ++i)
    total += cut(dot.a[place(i)] * dot.b[place(i)], top, model.bits);
  return total == 0 ? 0 : cut(total, std::max(std::ilogb(total), -126), model.width - 1);
}

inline float evaluate(const Model& model, const Dot& dot, int k) {
  float sum = dot.c;
  for (int step = 0; step < static_cast<int>(dot.a.size()); step += k) {
    double partial = model.joined ? sum : 0;
    for (int first = 0; first < k; first += model.group)
      partial = add_group(model, dot, step, first, partial);
    sum = static_cast<float>(partial) + (model.joined ? 0 : sum);
  }
  return sum;
}

inline std::vector<Model> all_models(int k) {
  std::vector<Model> out;
  for (int group : {k, k / 2, k / 4})
    for (int bits = 11; bits <= 28; ++bits)
      for (int width : {std::min(bits + 1, 23), 24})
        for (bool paired : {false, true})
          for (bool normalised : {false, true})
            for (bool joined : {true, false})
              if (!paired || group == k / 2)
                out.push_back({group, bits, width, paired, normalised, joined});
  return out;
}

inline std::string text_of(const Model& model) {
  return "groups of " + std::to_string(model.group) + (model.paired ? ", in pairs, " : ", ") +
         std::to_string(model.bits) + " bits, result of " + std::to_string(model.width) +
         (model.normalised ? ", normalised" : ", factors' exponents") +
         (model.joined ? ", C joined" : ", C added after");
}
