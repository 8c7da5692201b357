// How the tests of this folder state that a schedule kept the meaning of its program: the evaluator
// before and after, compiled code with and without `strict`, each array before and after a page
// that faults. A step may be refused; what is accepted must compute the same, read back and replay.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cstring>
#include <functional>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/scalar.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/jit/binding.hpp>
#include <lathe/lathe.hpp>
#include <lathe/lower/passes.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace meaning {

namespace lt = lathe;
using Dims = std::map<std::string, std::int64_t>;
/// Element k of a parameter.
using Fill = std::function<std::int64_t(std::int64_t)>;

/// What a program is run on; elements are small integers where nothing is said.
struct Data {
  Dims dims = {};
  std::map<std::string, Fill> fill = {};
  bool find_uninitialized = true;
};

/// So many bytes, the page after which faults, or that before.
class Guarded {
 public:
  Guarded(std::size_t bytes, bool at_end) : bytes_(bytes) {
    const std::size_t room = (bytes + kPage - 1) / kPage * kPage + kPage;
    total_ = room + 2 * kPage;
    base_ =
        static_cast<char*>(mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(mprotect(base_ + kPage, room, PROT_READ | PROT_WRITE) == 0);
    start_ = at_end ? base_ + kPage + room - bytes : base_ + kPage;
    std::memset(base_ + kPage, kBeside, room);
  }
  ~Guarded() { munmap(base_, total_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  char* start() const { return start_; }
  std::size_t bytes() const { return bytes_; }
  bool is_clean_beside() const {
    for (const char* at = base_ + kPage; at < base_ + total_ - kPage; ++at)
      if ((at < start_ || at >= start_ + bytes_) && *at != kBeside) return false;
    return true;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr char kBeside = 0x5a;
  char *base_ = nullptr, *start_ = nullptr;
  std::size_t bytes_, total_ = 0;
};

/// The arguments of one call.
class Arguments {
 public:
  Arguments(const lt::Program& program, const Data& data, bool at_end) : program_(program) {
    for (const auto& param : program->params) add(param, data, at_end);
  }
  std::vector<lt::CallArg> call() const {
    std::vector<lt::CallArg> out;
    for (std::size_t k = 0; k < memory_.size(); ++k) {
      lt::CallArg a{memory_[k]->start(), extents_[k].data(), strides_[k].data(), 0};
      if (!program_->params[k].buffer)
        std::memcpy(&a.scalar, memory_[k]->start(), memory_[k]->bytes());
      out.push_back(a);
    }
    return out;
  }
  std::vector<std::uint64_t> slots() const {
    lt::Vec<int> order;
    for (std::size_t k = 0; k < memory_.size(); ++k) order.push_back(static_cast<int>(k));
    lt::Binding binding(program_, order);
    std::vector<std::uint64_t> out(static_cast<std::size_t>(binding.slots()) + 1);
    binding.bind(call().data(), out.data(), lt::Location::here());
    return out;
  }
  /// The bytes of all parameters, after a run.
  std::vector<std::vector<char>> results() const {
    std::vector<std::vector<char>> out;
    for (const auto& m : memory_) {
      CHECK(m->is_clean_beside());
      out.emplace_back(m->start(), m->start() + m->bytes());
    }
    return out;
  }

 private:
  static std::int64_t value(const lt::AnyExpr& e, const Dims& dims) {
    lt::Substitution at;
    for (const auto& v : lt::free_vars(e)) at.emplace_back(v, lt::AnyExpr(dims.at(v->name)));
    return lt::const_int(lt::substitute(e, at)).value();
  }
  void add(const lt::Param& param, const Data& data, bool at_end) {
    std::vector<std::int64_t> extents;
    std::int64_t count = 1;
    if (param.buffer)
      for (const auto& e : param.buffer->shape)
        extents.push_back(value(e, data.dims)), count *= extents.back();
    std::vector<std::int64_t> strides(extents.size());
    std::int64_t stride = 1;
    for (std::size_t d = extents.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= std::max<std::int64_t>(1, extents[d]);
    }
    const lt::DType t = param.dtype();
    const auto width = static_cast<std::size_t>(t.element_bytes());
    memory_.push_back(std::make_unique<Guarded>(static_cast<std::size_t>(count) * width, at_end));
    const auto chosen = data.fill.find(param.name());
    test::Random random(977 + memory_.size());
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t v = chosen != data.fill.end() ? chosen->second(k)
                             : t.is_bool()             ? random.below(2)
                                                       : random.below(9) - 4;
      lt::detail::write_element(
          t, memory_.back()->start() + static_cast<std::size_t>(k) * width,
          lt::detail::scalar_of(t, t.is_float() ? 0 : lt::detail::wrap_int(t, v),
                                static_cast<double>(v)));
    }
    if (param.access == lt::Access::out)
      std::memset(memory_.back()->start(), 0xcd, memory_.back()->bytes());
    extents_.push_back(std::move(extents));
    strides_.push_back(std::move(strides));
  }

  const lt::Program& program_;
  std::vector<std::vector<std::int64_t>> extents_, strides_;
  std::vector<std::unique_ptr<Guarded>> memory_;
};

inline std::vector<std::vector<char>> interpret(const lt::Program& program, const Data& data,
                                                bool at_end) {
  Arguments args(program, data, at_end);
  auto slots = args.slots();
  lt::EvaluatorOptions options;
  options.find_uninitialized = data.find_uninitialized;
  lt::Evaluator(program, options).run(slots.data());
  return args.results();
}

/// The kernel of `source` on the data gives what the evaluator gives on the program.
inline void check_compiled(const lt::Program& program, const lt::Source& source, const Data& data) {
  const lt::AnyKernel kernel = lt::jit_any(source, {});
  for (bool at_end : {true, false}) {
    Arguments args(program, data, at_end);
    kernel.call(args.call().data());
    CHECK(args.results() == interpret(program, data, at_end));
  }
}

/// The program as it stands: compiled by its default schedule as the evaluator has it.
inline void check_plain(const lt::Program& program, const Data& data = {}) {
  check_compiled(program, lt::Source(program), data);
  check_compiled(program, lt::Source(program, {.strict = true}), data);
}

inline void check_kept(const lt::Program& program, const lt::Schedule& s, const Data& data = {}) {
  INFO(s.str());
  CHECK(lt::parse(s.str()).str() == s.str());
  CHECK(lt::replay(lt::parse_trace(s.trace().str()), lt::Schedule(program)).str() == s.str());
  for (bool at_end : {true, false})
    CHECK(interpret(s.program(), data, at_end) == interpret(program, data, at_end));
  check_compiled(program, lt::Source(s), data);
  check_compiled(program, lt::Source(s, {.strict = true}), data);
}

/// Applies steps to the program in the text. Empty if they were accepted, and then they kept the
/// meaning; else the id of the refusal, which left the schedule as it was.
inline std::string steps(const std::string& text, const std::function<void(lt::Schedule&)>& apply,
                         const Data& data = {}) {
  INFO(text);
  const lt::Program program = lt::parse(text);
  lt::Schedule s(program);
  std::string refused;
  try {
    apply(s);
  } catch (const lt::UserError& e) {
    refused = e.id();
    CHECK(std::string(e.what()).find(".cpp:") != std::string::npos);
  }
  check_kept(program, s, data);
  return refused;
}

inline lt::LoopRef loop(const lt::Schedule& s, const std::string& block, std::size_t at) {
  return s.loops(block)[at];
}

}  // namespace meaning
