// The schedule of a program for which nobody wrote or found one.
#pragma once

#include <lathe/autoschedule/plan.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <lathe/support/target.hpp>
#include <string>
#include <vector>

namespace lathe {

/// An analytic schedule from the program alone: cheap producers are inlined, what rows share is
/// computed ahead, producers of whole rows move into their consumer's row loop, the unit-stride
/// axis is vectorized, rows that share what they read (stencils) are computed a few at a time, rows
/// that lie along another axis are turned in registers, reductions get a register tile or one
/// partial result a lane and a tree that folds them, for some rows and columns at once, whichever
/// takes fewer cycles, from packed copies where operands are read often, in blocks that stay in the
/// second cache; products of narrow types take the rows of tensor_intrins() that the target has.
/// Loops of scripts become vectors, of rows where each step along a row needs the one before.
/// Results that are read from the same places become one nest, outputs larger than the last-level
/// cache are streamed, and the outermost loops run in parallel where the work pays for it; threads
/// share the terms of a reduction that has too few results for them. A program that steps have
/// changed already, also one whose text says `scheduled`, stays as it is. A step that is not legal
/// is left out, so the result is always correct. Under ScheduleOptions::strict no step reassociates
/// floats.
Schedule default_schedule(const Program& program, const Target& target = host(),
                          ScheduleOptions options = {}, Location where = Location::here());
/// The same; what was tried and refused is added to `left_out`, each as "L0217 cache_write: …".
Schedule default_schedule(const Program& program, const Target& target, ScheduleOptions options,
                          std::vector<std::string>& left_out, Location where = Location::here());
/// Of the program that computes these tensors.
///     std::puts(lt::default_schedule(D).trace().cpp().c_str());
Schedule default_schedule(const AnyTensor& output, const Target& target = host(),
                          ScheduleOptions options = {}, Location where = Location::here());
Schedule default_schedule(const OutputList& outputs, const Target& target = host(),
                          ScheduleOptions options = {}, Location where = Location::here());

/// What default_schedule decides for a program by what it costs, and what it compared it with.
///     std::puts(lt::default_plan(D).str().c_str());
Plan default_plan(const Program& program, const Target& target = host(),
                  ScheduleOptions options = {}, Location where = Location::here());
Plan default_plan(const AnyTensor& output, const Target& target = host(),
                  ScheduleOptions options = {}, Location where = Location::here());

/// The default schedule with the decisions of a plan; the nearest that is possible where a shape or
/// a target does not allow one, and what the rules say where the plan says nothing. `repairs`:
/// these differences are added, and steps that were refused. A program that is scheduled already
/// stays as it is. L0267 nothing that the plan decides is decided in this program.
Schedule apply_plan(const Plan& plan, const Program& program, const Target& target = host(),
                    ScheduleOptions options = {}, std::vector<std::string>* repairs = nullptr,
                    Location where = Location::here());

Schedule apply_plan(const Plan& plan, const AnyTensor& output, const Target& target = host(),
                    ScheduleOptions options = {}, std::vector<std::string>* repairs = nullptr,
                    Location where = Location::here());

/// Takes the default steps on what a schedule in progress has left: nests of which no step has
/// named a loop or a block, or has made one. The others keep their loops, and nothing moves into
/// them or out of them. Gives what was tried and refused, as "L0217 cache_write: …".
///     lt::Schedule s(D);
///     …                // the product by hand
///     lt::plan(s);     // and what comes before and after it by default
std::vector<std::string> plan(Schedule& schedule, const Target& target = host());
/// The same for the nest of one block. L0202 if steps have changed it already · L0201 an unknown
/// block.
std::vector<std::string> plan(Schedule& schedule, const BlockName& block,
                              const Target& target = host(), Location where = Location::here());

}  // namespace lathe
