#include <doctest/doctest.h>

#include <lathe/ir/fates.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

using namespace lathe;
using lathe::detail::after;
using lathe::detail::Change;
using lathe::detail::Fate;
using lathe::detail::fate_of;
using lathe::detail::forbids;

TEST_CASE("what becomes of attributes") {
  const Attributes loop{UnrollAttr{4}, TailAttr{Tail::guard}, PrefetchAttr{"A", 1, 3},
                        HoistAttr{"T"}, UserHint{"user.x", 1}};
  // The copy of a loop for an init has its shape, but none of what the loop holds.
  CHECK(after(Change::refill, loop) == Attributes{UnrollAttr{4}, TailAttr{Tail::guard}});
  CHECK(after(Change::clone, loop) == Attributes{UnrollAttr{4}, TailAttr{Tail::guard},
                                                 PrefetchAttr{"A", 1, 3}, UserHint{"user.x", 1}});
  CHECK(after(Change::border, {UnrollAttr{4}, PartitionAttr{}}) ==
        Attributes{UnrollAttr{4}, PartitionAttr{}});
  CHECK(after(Change::version, {UnrollAttr{4}, UserHint{"user.x", 1}}) ==
        Attributes{UserHint{"user.x", 1}});
  CHECK(*forbids(loop, Change::replace) == Attribute(UnrollAttr{4}));
  CHECK(forbids({TailAttr{Tail::mask}}, Change::replace) == nullptr);
  CHECK(forbids({PrefetchAttr{"A", 1, 3}}, Change::spread) == nullptr);
  CHECK(forbids({PrefetchAttr{"A", 1, 3}}, Change::unfold) != nullptr);
  for (const Attribute& a :
       Attributes{DoubleBufferAttr{"T"}, RollingAttr{"T"}, PipelineAttr{{0, 1}, {0, 1}}}) {
    CHECK(fate_of(a, Change::move) == Fate::refuse);
    CHECK(fate_of(a, Change::lose) == Fate::refuse);
    CHECK(fate_of(a, Change::clone) == Fate::drop);
  }
  CHECK(fate_of(StreamAttr{}, Change::clone) == Fate::drop);
  CHECK(fate_of(StreamAttr{}, Change::join) == Fate::refuse);
  CHECK(fate_of(GuardsAttr{}, Change::join) == Fate::drop);
  // Of a block with a copy of its result, the copy stores where it did.
  const Attributes block{GuardsAttr{1}, StreamAttr{Streaming::any}, UserHint{"user.x", 1}};
  CHECK(after(Change::divert, block) == Attributes{GuardsAttr{1}, UserHint{"user.x", 1}});
  CHECK(after(Change::deliver, block) == Attributes{StreamAttr{Streaming::any}});
  CHECK(after(Change::hand_over, block) ==
        Attributes{StreamAttr{Streaming::any}, UserHint{"user.x", 1}});
}
