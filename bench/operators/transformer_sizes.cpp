#include "operators/transformer_sizes.hpp"

#include "operators/families.hpp"

namespace bench {

namespace {

void add_attention(Families& to) {
  to.add<Attention>("attention",
                    {{128, 128, 12, 12, 64}, {512, 512, 12, 12, 64}, {2048, 2048, 4, 4, 64}},
                    [](Draw& d) {
                      const int n = d.from(100, 1200), heads = d.from(2, 12);
                      return Attention{n, n, heads, heads, d.from(32, 128, 8)};
                    });
  to.add<Attention>("attention causal",
                    {{512, 512, 12, 12, 64, true}, {1024, 1024, 4, 4, 128, true}}, [](Draw& d) {
                      const int n = d.from(100, 1200), heads = d.from(2, 12);
                      return Attention{n, n, heads, heads, d.from(32, 128, 8), true};
                    });
  to.add<Attention>(
      "attention of one query",
      {{1, 512, 12, 12, 64}, {1, 2048, 32, 32, 128}, {1, 2048, 32, 8, 128}}, [](Draw& d) {
        const int groups = d.from(1, 8);
        return Attention{1, d.from(100, 3000), groups * d.from(1, 4), groups, d.from(32, 128, 8)};
      });
}

void add_products(Families& to) {
  to.add<Linear>("norm, linear", {{128, 768, 2304, true}, {16, 2048, 2048, true}}, [](Draw& d) {
    return Linear{d.from(8, 300), d.from(256, 1500), d.from(256, 3000), true};
  });
  to.add<Linear>("linear, GELU", {{128, 768, 3072, false, true}, {512, 768, 3072, false, true}},
                 [](Draw& d) {
                   return Linear{d.from(8, 300), d.from(256, 1500), d.from(256, 3000), false, true};
                 });
  to.add<Linear>("linear", {{128, 3072, 768}, {1, 4096, 4096}, {16, 4096, 4096}}, [](Draw& d) {
    return Linear{d.from(1, 64), d.from(256, 4096), d.from(256, 4096)};
  });
  to.add<GatedUnit>("SwiGLU", {{1, 2048, 5632}, {16, 2048, 5632}, {128, 1024, 2816}}, [](Draw& d) {
    return GatedUnit{d.from(1, 200), d.from(256, 1500), d.from(500, 3000)};
  });
}

void add_rows(Families& to) {
  to.add<RowNorm>("layer norm", {{128, 768, true}, {512, 4096, true}}, [](Draw& d) {
    return RowNorm{d.from(16, 600), d.from(200, 4096), true};
  });
  to.add<RowNorm>("RMS norm", {{128, 768, false}, {512, 4096, false}}, [](Draw& d) {
    return RowNorm{d.from(16, 600), d.from(200, 4096), false};
  });
  to.add<Softmax>("softmax", {{1536, 128}, {1536, 512}, {2048, 2048}}, [](Draw& d) {
    return Softmax{d.from(100, 2000), d.from(50, 2000)};
  });
  to.add<Rotation>("RoPE", {{512, 12, 64}, {2048, 32, 128}}, [](Draw& d) {
    return Rotation{d.from(50, 1000), d.from(2, 32), d.from(32, 128, 8)};
  });
}

}  // namespace

std::vector<Operator> transformer_operators(unsigned seed) {
  Families families(seed);
  add_attention(families);
  add_products(families);
  add_rows(families);
  return families.all;
}

}  // namespace bench
