// Regions: the box of a buffer that is read at most, or surely written, while some loops run.
#pragma once

#include <lathe/analysis/access.hpp>

namespace lathe {

/// A box, its ends over the variables that were not relaxed. It may reach beyond the buffer's shape
/// where the accesses are conditional: intersect with whole_region to clip. exact: every element of
/// the box is touched and no other (found for plain index maps only). A dimension about which
/// nothing is known spans the whole buffer; then exact is false.
struct RegionBound {
  Region region;
  bool exact = false;
  bool empty = false;  ///< proven: nothing is touched
};

/// What the accesses touch at most (never too small) with the named variables relaxed over their
/// ranges: the hull over all of them. Conditions on an access narrow its box; facts under a
/// condition hold only inside it. `facts` must hold ranges for the variables that are not relaxed;
/// loops of the access that are relaxed are bound by the function.
RegionBound region_upper(const Buffer& buffer, const Vec<AccessSite>& all,
                         const Vec<VarRef>& relaxed, const Facts& facts = {});
/// The same, with the implied guard of blocks ("the bindings lie in the domains") applied
/// symbolically: ends may then be min and max of loop and domain bounds. Tighter, for proofs;
/// region_upper gives the simpler sizes that storage wants.
RegionBound region_upper_guarded(const Buffer& buffer, const Vec<AccessSite>& all,
                                 const Vec<VarRef>& relaxed, const Facts& facts = {});
/// A box that the accesses surely touch (never too large), or none: one access with a covering
/// index map, no unproven condition; or several whose boxes join exactly along one dimension.
Vec<Region> lower_boxes(const Buffer& buffer, const Vec<AccessSite>& all,
                        const Vec<VarRef>& relaxed, const Facts& facts = {});
std::optional<Region> region_lower(const Buffer& buffer, const Vec<AccessSite>& all,
                                   const Vec<VarRef>& relaxed, const Facts& facts = {});

/// What s (a subtree of a program) reads at most, per buffer in order of first read, with all loops
/// inside s relaxed.
Vec<RegionBound> required_regions(const Stmt& s, const Facts& facts = {});
RegionBound required_region(const Stmt& s, const Buffer& buffer, const Facts& facts = {});
RegionBound written_region_upper(const Stmt& s, const Buffer& buffer, const Facts& facts = {});
std::optional<Region> written_region_lower(const Stmt& s, const Buffer& buffer,
                                           const Facts& facts = {});

Region whole_region(const Buffer& buffer);
/// The smallest box known that holds both.
Region region_hull(const Region& a, const Region& b, const Facts& facts = {});
Region region_intersect(const Region& a, const Region& b, const Facts& facts = {});
/// inner lies inside outer: proven.
bool region_contains(const Region& outer, const Region& inner, const Facts& facts = {});
bool regions_disjoint(const Region& a, const Region& b, const Facts& facts = {});
bool region_empty(const Region& a, const Facts& facts = {});
/// An access at these indices touches an element of the buffer: proven.
bool surely_inside(const BufferNode& buffer, const Vec<AnyExpr>& indices, const Facts& facts);
/// Variables of the loops.
Vec<VarRef> vars_of(const Vec<ForRef>& loops);

}  // namespace lathe
