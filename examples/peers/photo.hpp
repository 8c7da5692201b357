// The photo pipeline stage by stage: one loop nest per stage, each over the whole picture, on one
// thread.
#pragma once

#include "../common/picture.hpp"

namespace peers {

/// Keeps what the stages compute from call to call, so that no memory is fetched anew.
class PhotoByStages {
 public:
  const example::Picture& run(const example::Picture& image);

 private:
  std::vector<float> luma_, blur_x_, blur_y_, gain_;
  example::Picture out_;
};

}  // namespace peers
