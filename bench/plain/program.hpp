// A program without a schedule beside plain loops: both as functions of sizes.
#pragma once

#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lathe_side.hpp"
#include "plain/cases.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

/// A size of a program: given, or drawn anew by each run from low, low + step, … high.
struct Size {
  int low, high, step = 1;
  Size(int given) : low(given), high(given) {}
  Size(int from, int to, int by) : low(from), high(to), step(by) {}
};
inline Size between(int low, int high, int step = 1) { return {low, high, step}; }

using Shape = std::vector<Size>;
using Sizes = std::vector<int>;
/// One for each parameter of a program, in its order.
using Pointers = std::vector<void*>;

/// What is particular about the numbers of a program.
struct Numbers {
  /// Results may differ by this share of the largest one; 0: what the rounding of the element type
  /// explains, nothing for integers.
  double bound = 0;
  /// Inputs of i32 and i64 are positions: less than the size of this number.
  int positions_in = -1;
  /// Elements between the rows of inputs, which are crops then.
  std::int64_t gap = 0;
};

/// Loops that -ffast-math gives estimates of reciprocals and roots, and the same ones without.
template <class... L>
struct BothLoops {
  void (*fast)(L...);
  void (*exact)(L...);
};
template <class... L>
BothLoops<L...> both(void (*fast)(L...), void (*exact)(L...)) {
  return {fast, exact};
}

/// The program takes its inputs in the order of their first use, then its results. The loops take
/// pointers in this order, then the sizes. A program of lt::Dims learns its sizes in each call.
struct PlainProgram {
  std::string name;
  std::function<lt::Program(const Sizes&)> describe;
  using Loops = std::function<void(const Pointers&, const Sizes&)>;
  Loops loops;
  Loops exact;  ///< stands beside the program, and `loops` beside it under Math::fast; or nothing
  std::vector<Shape> shapes;
  Numbers numbers;
  std::vector<lt::DType> types;  ///< of what the loops' pointers point to

  /// Of the Dim that stands for a size.
  static std::string dim_name(std::size_t size) { return "size" + std::to_string(size); }

  template <class... S, class... L>
  PlainProgram(std::string its_name, lt::Program (*its_program)(S...), void (*its_loops)(L...),
               std::initializer_list<Shape> its_shapes, Numbers its_numbers = {})
      : name(std::move(its_name)), shapes(its_shapes), numbers(its_numbers) {
    constexpr std::size_t sizes = sizeof...(S), pointers = sizeof...(L) - sizes;
    static_assert((std::is_pointer_v<L> + ...) == pointers, "loops and program differ in sizes");
    describe = [its_program](const Sizes& n) {
      return with_sizes(its_program, n, std::make_index_sequence<sizes>());
    };
    loops = called(its_loops);
    types = {pointee<L>...};
    types.resize(pointers);
  }
  template <class... S, class... L>
  PlainProgram(std::string its_name, lt::Program (*its_program)(S...), BothLoops<L...> its_loops,
               std::initializer_list<Shape> its_shapes, Numbers its_numbers = {})
      : PlainProgram(std::move(its_name), its_program, its_loops.fast, its_shapes, its_numbers) {
    exact = called(its_loops.exact);
  }

 private:
  template <class L>
  static constexpr lt::DType pointee = lt::dtype_of<std::remove_cv_t<std::remove_pointer_t<L>>>;

  template <class S>
  static S size_as(const Sizes& n, std::size_t k) {
    if constexpr (std::is_same_v<S, int>)
      return n[k];
    else
      return S(dim_name(k));
  }
  template <class... S, std::size_t... K>
  static lt::Program with_sizes(lt::Program (*f)(S...), const Sizes& n, std::index_sequence<K...>) {
    return f(size_as<S>(n, K)...);
  }
  template <class L>
  static L argument(const Pointers& at, const Sizes& n, std::size_t k) {
    if constexpr (std::is_pointer_v<L>)
      return static_cast<L>(at[k]);
    else
      return n[k - at.size()];
  }
  template <class... L>
  static Loops called(void (*f)(L...)) {
    return [f](const Pointers& at, const Sizes& n) {
      with_pointers(f, at, n, std::make_index_sequence<sizeof...(L)>());
    };
  }
  template <class... L, std::size_t... K>
  static void with_pointers(void (*f)(L...), const Pointers& at, const Sizes& n,
                            std::index_sequence<K...>) {
    f(argument<L>(at, n, K)...);
  }
};

using PlainPrograms = std::vector<PlainProgram>;
PlainPrograms dot_programs();
PlainPrograms row_fold_programs();
PlainPrograms column_fold_programs();
PlainPrograms matrix_vector_programs();
PlainPrograms product_programs();
PlainPrograms convolution_programs();
PlainPrograms row_chain_programs();
PlainPrograms attention_programs();
PlainPrograms window_programs();
PlainPrograms search_programs();
PlainPrograms layout_programs();
/// Programs that move elements, in sizes that no cache holds.
PlainPrograms move_programs();
PlainPrograms channel_programs();
PlainPrograms invariant_programs();
PlainPrograms narrow_programs();
PlainPrograms gather_programs();
PlainPrograms recurrence_programs();
PlainPrograms elementwise_programs();

/// A program for sizes that have been drawn.
struct PlainSubject {
  std::string family, name;
  PlainProgram program;
  Sizes sizes;

  /// What integers of its inputs are less than.
  std::int64_t positions() const {
    const int size = program.numbers.positions_in;
    return size < 0 ? 1000 : sizes[static_cast<std::size_t>(size)];
  }
};
/// All programs in the sizes that belong to a seed, family by family.
std::vector<PlainSubject> plain_subjects(unsigned seed);

/// What is timed beside a program and its loops.
struct Companions {
  bool copies = false;           ///< of as much memory
  std::vector<Peer> peers = {};  ///< which have a function for some programs
};

/// Compiles a program by Lathe's default schedule and gives it, the loops that go with `math` and
/// what else there is memory. Throws std::runtime_error if a peer computes something else than the
/// loops.
PlainRun make_run(const PlainSubject& subject, const Companions& companions,
                  lt::Math math = lt::Math::normal);

}  // namespace bench
#endif
