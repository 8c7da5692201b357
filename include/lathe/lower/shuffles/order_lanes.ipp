#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/shuffles/lane_orders.hpp>
#include <lathe/lower/shuffles/lane_webs.hpp>

namespace lathe {
namespace detail {

/// The map of a move where its sources and its result have these orders.
inline Vec<int> map_in_orders(const LaneWebs::Move& move, const Vec<const LaneOrder*>& places,
                              const LaneOrder* to) {
  Vec<int> map;
  for (std::size_t l = 0; l < move.map.size(); ++l) {
    const int at = move.map[to ? static_cast<std::size_t>((*to)[l]) : l];
    const int source = at / move.lanes, lane = at % move.lanes;
    const LaneOrder* place = places[static_cast<std::size_t>(source)];
    map.push_back(source * move.lanes + (place ? (*place)[static_cast<std::size_t>(lane)] : lane));
  }
  return map;
}

/// An order for each web, so that the shuffles between them take the fewest instructions: by
/// descent from each order that all webs can have, one web after the other.
class LaneOrderSearch {
 public:
  LaneOrderSearch(const LaneWebs& webs, const TargetCaps& caps) : webs_(webs), caps_(caps) {
    choices_.resize(webs.size());
    touching_.resize(webs.size());
    for (std::size_t m = 0; m < webs.moves().size(); ++m) {
      const LaneWebs::Move& move = webs.moves()[m];
      for (const int web : move.from) touch(web, m);
      touch(move.to, m);
    }
  }

  void run() {
    Vec<bool> seen(webs_.size(), false), added(webs_.moves().size(), false);
    for (std::size_t web = 0; web < webs_.size(); ++web) {
      if (seen[web] || touching_[web].empty()) continue;
      const Part part = around(web, seen, added);
      if (part.shuffles == 0 || part.moves.size() > kMostMoves) continue;
      for (const std::size_t m : part.moves) offer(webs_.moves()[m]);
      improve(part);
    }
  }
  /// Null: as the lanes were.
  const LaneOrder* order(int web) const { return chosen(web, &Choice::order); }
  /// Where each lane is in the web's order.
  const LaneOrder* places(int web) const { return chosen(web, &Choice::places); }

 private:
  /// The time of a search grows with its square.
  static constexpr std::size_t kMostMoves = 400;
  /// How many times a loop is taken to run.
  static constexpr double kTrips = 8;

  struct Choice {
    LaneOrder order, places;
  };
  struct Choices {
    Vec<Choice> all;
    Vec<int> sizes;  ///< bytes of the elements whose orders are among them
    int taken = -1;
    bool meets_memory = false;  ///< or what else takes lanes as they were
  };
  /// Webs that shuffles connect, and these.
  struct Part {
    Vec<int> webs;
    Vec<std::size_t> moves;
    int shuffles = 0;  ///< of the moves
  };

  void touch(int web, std::size_t move) {
    if (web == LaneWebs::kInOrder) return;
    Vec<std::size_t>& touching = touching_[static_cast<std::size_t>(web)];
    if (touching.empty() || touching.back() != move) touching.push_back(move);
  }
  void offer(const LaneWebs::Move& move) {
    for (const int web : move.from) offer(web, move, move.lanes);
    offer(move.to, move, move.type.lanes);
  }
  void offer(int web, const LaneWebs::Move& move, int lanes) {
    if (web == LaneWebs::kInOrder || webs_.is_pinned(web)) return;
    Choices& its = choices(web);
    its.meets_memory = its.meets_memory || move.keeps;
    const int bytes = move.type.element_bytes();
    if (std::find(its.sizes.begin(), its.sizes.end(), bytes) != its.sizes.end()) return;
    its.sizes.push_back(bytes);
    for (LaneOrder& order : orders_within_pieces(lanes, bytes)) {
      LaneOrder places = inverse(order);
      its.all.push_back({std::move(order), std::move(places)});
    }
  }
  const LaneOrder* chosen(int web, LaneOrder Choice::*part) const {
    if (web == LaneWebs::kInOrder) return nullptr;
    const Choices& its = choices_[static_cast<std::size_t>(web)];
    return its.taken < 0 ? nullptr : &(its.all[static_cast<std::size_t>(its.taken)].*part);
  }
  Choices& choices(int web) { return choices_[static_cast<std::size_t>(web)]; }

  Part around(std::size_t web, Vec<bool>& seen, Vec<bool>& added) const {
    Part part;
    const auto reach = [&](int w) {
      if (w == LaneWebs::kInOrder || seen[static_cast<std::size_t>(w)]) return;
      seen[static_cast<std::size_t>(w)] = true;
      part.webs.push_back(w);
    };
    reach(static_cast<int>(web));
    for (std::size_t k = 0; k < part.webs.size(); ++k)
      for (const std::size_t m : touching_[static_cast<std::size_t>(part.webs[k])]) {
        if (added[m]) continue;
        added[m] = true;
        part.moves.push_back(m);
        part.shuffles += webs_.moves()[m].is_shuffle;
        for (const int from : webs_.moves()[m].from) reach(from);
        reach(webs_.moves()[m].to);
      }
    return part;
  }

  double cost(const Vec<std::size_t>& moves) const {
    double sum = 0;
    for (const std::size_t m : moves) sum += cost(webs_.moves()[m]);
    return sum;
  }
  double cost(const LaneWebs::Move& move) const {
    if (move.constant) return 0;
    Vec<const LaneOrder*> from;
    for (const int web : move.from) from.push_back(places(web));
    const Vec<int> map = map_in_orders(move, from, order(move.to));
    return std::pow(kTrips, move.depth) * shuffle_cost(move.type, move.lanes, map, caps_);
  }

  int& taken(int web) { return choices(web).taken; }
  int number(int web) { return static_cast<int>(choices(web).all.size()); }
  void take(const Part& part, const Vec<int>& orders) {
    for (std::size_t k = 0; k < part.webs.size(); ++k) taken(part.webs[k]) = orders[k];
  }

  void improve(const Part& part) {
    Vec<int> best(part.webs.size(), -1);
    double least = cost(part.moves);
    int most = 0;
    for (const int web : part.webs) most = std::max(most, number(web));
    for (int start = 0; start < most && least > 0; ++start) {
      for (const int web : part.webs)
        taken(web) = start < number(web) && !choices(web).meets_memory ? start : -1;
      while (descend(part)) {
      }
      const double now = cost(part.moves);
      if (now >= least) continue;
      least = now;
      for (std::size_t k = 0; k < part.webs.size(); ++k) best[k] = taken(part.webs[k]);
    }
    take(part, best);
  }
  bool descend(const Part& part) {
    bool any = false;
    for (const int web : part.webs) {
      const int before = taken(web);
      const Vec<std::size_t>& moves = touching_[static_cast<std::size_t>(web)];
      int best = before;
      double least = cost(moves);
      for (int k = -1; k < number(web); ++k) {
        taken(web) = k;
        if (const double now = cost(moves); now < least) least = now, best = k;
      }
      taken(web) = best;
      any = any || best != before;
    }
    return any;
  }

  const LaneWebs& webs_;
  const TargetCaps& caps_;
  Vec<Choices> choices_;
  Vec<Vec<std::size_t>> touching_;
};

class OrderLanes : public SharingMutator {
 public:
  OrderLanes(const LaneWebs& webs, const LaneOrderSearch& orders, const TargetCaps& caps)
      : webs_(webs), orders_(orders), caps_(caps) {}

  // What was rewritten holds wherever it stands.
  Stmt stmt(const Stmt& s) override {
    const auto* store = s.as<StoreNode>();
    return has_body(s) || (store && stores_register(*store)) ? descend(s) : as_it_was_.of(s);
  }

 private:
  /// Operands of what takes lanes as they were.
  class AsItWas : public Mutator {
   public:
    explicit AsItWas(OrderLanes& owner) : owner_(owner) {}
    AnyExpr expr(const AnyExpr& e) override { return owner_.in_order(e); }
    template <class Node>
    Node of(const Node& node) {
      return descend(node);
    }

   private:
    OrderLanes& owner_;
  };

  static bool has_body(const Stmt& s) {
    return any_child(s, [](const Stmt&) { return true; });
  }
  AnyExpr in_order(const AnyExpr& e) {
    AnyExpr out = expr(e);
    const LaneOrder* places = orders_.places(webs_.web_of(e));
    return places ? make_shuffle({std::move(out)}, *places) : out;
  }
  AnyExpr rewritten(const AnyExpr& e) override {
    switch (lane_role(e, caps_)) {
      case LaneRole::shuffle:
        return shuffled(e);
      case LaneRole::other: {
        AnyExpr out = as_it_was_.of(e);
        const LaneOrder* order = orders_.order(webs_.web_of(e));
        return order ? make_shuffle({std::move(out)}, *order) : out;
      }
      default:
        return descend(e);
    }
  }
  AnyExpr shuffled(const AnyExpr& e) {
    const auto* n = e.as<ShuffleNode>();
    LaneWebs::Move move{n->dtype, {}, 0, n->vectors[0].dtype().lanes, n->lanes};
    Vec<AnyExpr> vectors;
    Vec<const LaneOrder*> places;
    for (const AnyExpr& v : n->vectors) {
      vectors.push_back(expr(v));
      places.push_back(orders_.places(webs_.web_of(v)));
    }
    return make_shuffle(std::move(vectors),
                        map_in_orders(move, places, orders_.order(webs_.web_of(e))));
  }

  const LaneWebs& webs_;
  const LaneOrderSearch& orders_;
  const TargetCaps& caps_;
  AsItWas as_it_was_{*this};
};

}  // namespace detail

LATHE_DECL Program order_lanes(const Program& program, const TargetCaps& caps) {
  const detail::LaneWebs webs(program->body, caps);
  detail::LaneOrderSearch orders(webs, caps);
  orders.run();
  return program.with(detail::OrderLanes(webs, orders, caps).stmt(program->body));
}

}  // namespace lathe
