// A program on its way through the pipeline, for tests that look at it after several passes.
#pragma once

#include <lathe/ir/verify.hpp>
#include <lathe/lower/pipeline.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace test {

/// What lower_until gives for one pass after the other, which starts anew for each.
class Lowering {
 public:
  explicit Lowering(lathe::Program program, lathe::Target target = lathe::host(),
                    lathe::LowerOptions options = {})
      : program_(std::move(program)), target_(std::move(target)), options_(options) {
    // From there on every pass has to run.
    if (program_->stage != lathe::Stage::blocks) throw std::logic_error("not at Stage::blocks");
  }

  /// Passes are named in their order.
  const lathe::Program& until(std::string_view name) {
    while (next_ < lathe::cpu_pipeline().size()) {
      const lathe::Pass& pass = lathe::cpu_pipeline()[next_++];
      run(pass);
      if (pass.name == name) return program_;
    }
    throw std::logic_error("no pass after the last one is named " + std::string(name));
  }

 private:
  void run(const lathe::Pass& pass) {
    program_ = pass.run(program_, target_, options_);
    if (program_->stage < pass.leaves) program_ = program_.with(program_->body, pass.leaves);
    lathe::verify(program_, program_->stage, pass.name, lathe::TargetCaps(target_));
  }

  lathe::Program program_;
  lathe::Target target_;
  lathe::LowerOptions options_;
  std::size_t next_ = 0;
};

}  // namespace test
