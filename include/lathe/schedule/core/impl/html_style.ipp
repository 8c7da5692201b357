#pragma once

#include <string_view>

namespace lathe::detail {

// How the page of a schedule looks: one colour per kind of loop, light or dark as the reader's
// system is.
inline constexpr std::string_view kSchedulePageStyle = R"(:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1d2129; --faint: #667; --line: #d8dce3; --card: #f5f6f8;
  --program: #8a93a3; --serial: #9aa5b5; --parallel: #d9822b; --vectorized: #2b7de0;
  --unrolled: #8e44c9; --bound: #c2476b; --block: #2e9d5b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181d; --ink: #dfe3ea; --faint: #98a1b0; --line: #343b46; --card: #1e232b;
    --program: #8591a3; --serial: #7b8798; --parallel: #f0a04b; --vectorized: #62a8ff;
    --unrolled: #b98aec; --bound: #e57f9c; --block: #4fc380;
  }
}
body { margin: 1.5rem auto; padding: 0 1rem; max-width: 75rem; background: var(--paper);
  color: var(--ink); font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .5rem; }
h2 { font-size: 1.05rem; margin: 1.4rem 0 .5rem; }
code, pre { font: 12.5px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { margin: .3rem 0; padding: .5rem .7rem; background: var(--card); overflow-x: auto; }
summary { cursor: pointer; }
.legend { color: var(--faint); margin: .3rem 0; max-width: 60rem; }
.legend b, .loop > summary > b, .block > summary > b { font-weight: 600; }
.loop { border-left: 4px solid var(--c); padding-left: .7rem; margin: .45rem 0; }
.loop > .loop, .loop > .block { margin-left: .6rem; }
.program { --c: var(--program); } .serial { --c: var(--serial); }
.parallel { --c: var(--parallel); } .bound { --c: var(--bound); } .vectorized { --c: var(--vectorized); }
.unrolled { --c: var(--unrolled); } .block { --c: var(--block); }
.loop > summary > b, .block > summary > b, .legend b { color: var(--c); }
details.block { border-left: 4px solid var(--c); background: var(--card); padding: .2rem .7rem;
  margin: .45rem 0; }
.block pre { padding-left: 0; }
.loop > summary { overflow: hidden; }
.totals { float: right; display: inline-flex; gap: .9rem; align-items: center;
  font-variant-numeric: tabular-nums; }
.totals > .bytes, .totals > .ops, .totals > .intensity { min-width: 5.4rem; text-align: right; }
.totals > .level { min-width: 3.6rem; }
.heads { overflow: hidden; color: var(--faint); font-size: 12px; margin: 0; }
.heads .bar { background: none; height: auto; }
.intensity { font-weight: 600; }
.bar { width: 6rem; height: .5rem; background: var(--card); }
.bar > span { display: block; height: 100%; background: var(--c); }
.chips { margin: .25rem 0; display: flex; flex-wrap: wrap; gap: .35rem; }
.chips > span { border: 1px solid var(--line); border-radius: .3rem; padding: 0 .4rem; }
.chips > .written { border-color: var(--block); }
.chips small, .touches { color: var(--faint); }
.touches > span { margin-left: .8rem; }
.mark { font-style: normal; font-size: 12px; color: var(--faint); border: 1px solid var(--line);
  border-radius: .3rem; padding: 0 .3rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); }
.roofline { max-width: 40rem; background: var(--card); }
.roofline polyline { fill: none; stroke: var(--faint); }
.roofline circle { fill: var(--vectorized); }
.roofline text { fill: var(--ink); font-size: 11px; }
)";

// Above the loops' numbers, in columns as wide.
inline constexpr std::string_view kSchedulePageHeads =
    R"(<p class="heads">loop, and below it what one iteration touches of each buffer
<span class="totals"><span class="bar"></span>
<span class="bytes">bytes</span><span class="level">cache</span>
<span class="ops">operations</span><span class="intensity">per byte</span></span></p>
)";

inline constexpr std::string_view kSchedulePageLegend =
    R"(<p class="legend"><b class="serial">serial</b> · <b class="parallel">parallel</b> ·
<b class="vectorized">vectorized</b> · <b class="unrolled">unrolled</b> ·
<b class="bound">bound</b> · <b class="block">block</b></p>
<p class="legend">Each loop shows what one of its iterations touches of every buffer, what that is in bytes together (the bar is
logarithmic), the nearest cache that is as large, how many operations it does, and operations per byte. Boxes are the
smallest that are known to hold what any iteration touches; ≤ marks those of which maybe not all is touched, and operations
of which guards may leave some out. Green frames: written.</p>
)";

}  // namespace lathe::detail
