// The table of families, and a program of one of them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "families_blocks.hpp"
#include "families_contraction.hpp"
#include "families_elementwise.hpp"
#include "families_graph.hpp"
#include "families_laws.hpp"
#include "families_memory.hpp"
#include "families_mutated.hpp"
#include "families_nests.hpp"
#include "families_reach.hpp"
#include "families_reduction.hpp"
#include "families_text.hpp"
#include "families_window.hpp"

namespace fuzz {

struct FamilyRow {
  const char* name;
  int weight;
  ComputedProgram (*make)(Random&);
};

template <class Topic>
Topic topic_of(void (Topic::*)());

template <auto family>
ComputedProgram made(Random& random) {
  decltype(topic_of(family)) topic(random);
  (topic.*family)();
  return topic.computed();
}

inline const std::vector<FamilyRow>& family_rows() {
  using B = BlockFamilies;
  using C = ContractionFamilies;
  using E = ElementwiseFamilies;
  using G = GraphFamilies;
  using I = NestFamilies;
  using K = MemoryFamilies;
  using M = MutatedFamilies;
  using N = ClaimFamilies;
  using L = LawFamilies;
  using P = ReachFamilies;
  using R = ReductionFamilies;
  using T = TextFamilies;
  using W = WindowFamilies;
  static const std::vector<FamilyRow> all = {{"elementwise", 3, made<&E::elementwise>},
                                             {"shared_parts", 4, made<&E::shared_parts>},
                                             {"casts", 3, made<&E::casts>},
                                             {"broadcast", 2, made<&E::broadcast>},
                                             {"transpose", 2, made<&E::transpose>},
                                             {"permute", 2, made<&E::permute>},
                                             {"reverse", 3, made<&E::reverse>},
                                             {"reshape", 2, made<&E::reshape>},
                                             {"concat", 2, made<&E::concat>},
                                             {"slice", 2, made<&E::slice>},
                                             {"gather", 3, made<&E::gather>},
                                             {"hash", 3, made<&E::hash>},
                                             {"gemm", 4, made<&C::gemm>},
                                             {"gemm_at", 2, made<&C::gemm_at>},
                                             {"batched_gemm", 2, made<&C::batched_gemm>},
                                             {"gemv", 2, made<&C::gemv>},
                                             {"outer", 1, made<&C::outer>},
                                             {"trmm", 2, made<&C::trmm>},
                                             {"attention", 2, made<&C::attention>},
                                             {"quantised", 3, made<&C::quantised>},
                                             {"narrow_product", 2, made<&C::narrow_product>},
                                             {"offset_product", 3, made<&C::offset_product>},
                                             {"reduction", 4, made<&R::reduction>},
                                             {"row_sum", 2, made<&R::row_sum>},
                                             {"column_sum", 2, made<&R::column_sum>},
                                             {"total_sum", 2, made<&R::total_sum>},
                                             {"softmax", 3, made<&R::softmax>},
                                             {"layernorm", 2, made<&R::layernorm>},
                                             {"argmax", 2, made<&R::argmax>},
                                             {"moments", 3, made<&R::moments>},
                                             {"log_sum_exp", 1, made<&R::log_sum_exp>},
                                             {"mask", 2, made<&R::mask>},
                                             {"bits", 2, made<&R::bits>},
                                             {"conv1d", 2, made<&W::conv1d>},
                                             {"conv2d", 2, made<&W::conv2d>},
                                             {"conv3d", 2, made<&W::conv3d>},
                                             {"depthwise", 2, made<&W::depthwise>},
                                             {"grouped", 2, made<&W::grouped>},
                                             {"transposed_conv", 2, made<&W::transposed_conv>},
                                             {"padded_conv", 3, made<&W::padded_conv>},
                                             {"boxes", 3, made<&W::boxes>},
                                             {"pool_max", 2, made<&W::pool_max>},
                                             {"pool_average", 2, made<&W::pool_average>},
                                             {"stencil", 2, made<&W::stencil>},
                                             {"stencil_chain", 3, made<&W::stencil_chain>},
                                             {"pyramid", 2, made<&W::pyramid>},
                                             {"dag", 6, made<&G::dag>},
                                             {"windowed_dag", 4, made<&G::windowed_dag>},
                                             {"shared_producer", 2, made<&G::shared_producer>},
                                             {"ten_uses", 2, made<&G::ten_uses>},
                                             {"two_dims", 2, made<&G::two_dims>},
                                             {"scan", 2, made<&T::scan>},
                                             {"recurrence", 4, made<&T::recurrence>},
                                             {"wavefront", 2, made<&T::wavefront>},
                                             {"gauss_seidel", 3, made<&T::gauss_seidel>},
                                             {"jacobi", 2, made<&T::jacobi>},
                                             {"strided_set", 2, made<&T::strided_set>},
                                             {"scatter", 3, made<&T::scatter>},
                                             {"histogram", 2, made<&T::histogram>},
                                             {"cholesky", 4, made<&T::cholesky>},
                                             {"trisolve", 2, made<&T::trisolve>},
                                             {"while_loop", 3, made<&T::while_loop>},
                                             {"dead_producer", 2, made<&T::dead_producer>},
                                             {"masked_fold", 5, made<&L::masked_fold>},
                                             {"laws", 5, made<&L::laws>},
                                             {"results", 3, made<&L::results>},
                                             {"self_update", 5, made<&B::self_update>},
                                             {"repeats", 5, made<&B::repeats>},
                                             {"overlaps", 5, made<&B::overlaps>},
                                             {"conditions", 5, made<&B::conditions>},
                                             {"ragged", 4, made<&B::ragged>},
                                             {"beyond", 4, made<&B::beyond>},
                                             {"scatter_update", 3, made<&B::scatter_update>},
                                             {"wild_block", 4, made<&B::wild_block>},
                                             {"nested_loops", 3, made<&N::nested_loops>},
                                             {"nested_blocks", 5, made<&N::nested_blocks>},
                                             {"data_sizes", 4, made<&N::data_sizes>},
                                             {"marks", 3, made<&N::marks>},
                                             {"kinds", 4, made<&N::kinds>},
                                             {"untrue_loops", 1, made<&N::untrue_loops>},
                                             {"untrue_regions", 1, made<&N::untrue_regions>},
                                             {"untrue_init", 1, made<&N::untrue_init>},
                                             {"fused_loops", 3, made<&I::fused_loops>},
                                             {"in_place_chain", 3, made<&I::in_place_chain>},
                                             {"guarded_nests", 3, made<&I::guarded_nests>},
                                             {"scalar_blocks", 3, made<&I::scalar_blocks>},
                                             {"inner_nests", 3, made<&I::inner_nests>},
                                             {"blocks_of_nests", 3, made<&I::blocks_of_nests>},
                                             {"reversed_loops", 3, made<&P::reversed_loops>},
                                             {"cut_windows", 3, made<&P::cut_windows>},
                                             {"tiled_loops", 3, made<&P::tiled_loops>},
                                             {"short_loops", 3, made<&P::short_loops>},
                                             {"part_of_domain", 4, made<&P::part_of_domain>},
                                             {"single_iterations", 3, made<&P::single_iterations>},
                                             {"counters", 5, made<&K::counters>},
                                             {"set_bounds", 5, made<&K::set_bounds>},
                                             {"own_numbers", 3, made<&K::own_numbers>},
                                             {"mutated_bytes", 3, made<&M::mutated_bytes>},
                                             {"mutated_words", 3, made<&M::mutated_words>},
                                             {"mutated_nodes", 3, made<&M::mutated_nodes>}};
  return all;
}

/// The row of this name; exits if there is none.
inline const FamilyRow& find_family(const std::string& name) {
  for (const auto& row : family_rows())
    if (row.name == name) return row;
  std::fprintf(stderr, "no family %s; there are", name.c_str());
  for (const auto& row : family_rows()) std::fprintf(stderr, " %s", row.name);
  std::fprintf(stderr, "\n");
  std::exit(2);
}

/// Of this family, or of any if it has no name.
inline ComputedProgram random_program(Random& random, const std::string& family) {
  const FamilyRow& row =
      family.empty() ? pick_weighted(random, family_rows()) : find_family(family);
  ComputedProgram made = row.make(random);
  made.family = row.name;
  return made;
}

}  // namespace fuzz
