// The numbers of one block under its loops, from which costs and advice follow.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/analysis/footprint.hpp>
#include <lathe/cost/explanation.hpp>
#include <lathe/cost/operation_cost.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

struct StageLoop {
  ForRef loop;
  double trip = 1;
  bool reduces = false;  ///< the block folds along it
  /// Vectorized or unrolled, and so are all loops inside: values of its iterations are registers.
  bool written_out = false;
};

/// How an access moves along the lanes of a vector.
enum class LaneStep : std::uint8_t { same, unit, apart };

struct StageAccess {
  AccessSite site;
  LaneStep lane = LaneStep::same;
  bool in_registers = false;  ///< of a buffer in registers or tiles
  double element_bytes = 4;
  std::array<double, 3> missed{};        ///< bytes that come from L2, L3 and memory
  std::array<int, 3> again{-1, -1, -1};  ///< the loop that makes them come more than once
};

struct StageModel {
  BlockSite site;
  Vec<StageLoop> loops;  ///< outermost first
  Vec<StageAccess> accesses;
  OperationMix mix;
  double points = 1, lanes = 1, threads = 1;
  double vectors = 1;  ///< how often one vector operation of the body runs
  double sums = 0;     ///< vectors of sums that do not wait for each other; 0: it folds nothing
  double chain = 0;    ///< sums that wait for one another, all in turn
  double loads = 0, stores = 0, gathered = 0;  ///< instructions, and elements moved one by one
  double registers = 0;   ///< vectors of results that one iteration of what is written out has
  double near_bytes = 0;  ///< that these move

  /// The innermost loop along which an access moves; -1: none.
  int innermost_move(const StageAccess& access, int below) const;
  bool moves(const StageAccess& access, int loop) const;
};

/// What a size that is not known counts as.
inline constexpr std::int64_t kGuessedSize = 1024;

/// What a program's stages share: footprints of loops are found once.
class ProgramWork {
 public:
  ProgramWork(const Program& program, const Machine& machine);

  const Program& program() const { return program_; }
  const Vec<AccessSite>& accesses() const { return accesses_; }
  /// Bytes of the cache lines that one iteration touches, of the whole program for none.
  double bytes(const VarRef& loop);
  double bytes_of(const Buffer& buffer, const VarRef& loop);
  /// Whether one iteration of the loop has the buffer to itself.
  bool is_inside(const Buffer& buffer, const VarRef& loop);
  /// A size; what is known of nothing in it counts as 1024.
  double number(const AnyExpr& size, const Facts& facts = {});

 private:
  struct LoopWork {
    double bytes = 0;
    NodeMap<double> buffers;
  };
  // A buffer that each iteration of a loop has to itself.
  struct Inside {
    Vec<VarRef> loops;  ///< that one, and those around it
    double bytes = 0;
  };
  const LoopWork& work(const VarRef& loop);
  double size(const AnyExpr& bytes, const BufferNode& buffer);
  double lines(const Footprint& touched);

  Program program_;
  double line_bytes_;
  Vec<AccessSite> accesses_;
  NodeMap<LoopWork> loops_;
  NodeMap<Inside> inside_;
};

StageModel stage_model(const BlockSite& site, ProgramWork& work, const Machine& machine);
StageCost stage_cost(const StageModel& model, const Machine& machine);
std::vector<std::string> stage_advice(const StageModel& model, const StageCost& cost,
                                      const Machine& machine);

}  // namespace lathe::detail
