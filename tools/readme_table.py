"""Writes measured numbers into a document: readme_table.py [--check] [DOCUMENT REPORT...]

A report holds one JSON object a line, as bench/run.sh --json writes them, or is a page with a table of all cases, as
this writes them into docs/notes/measured-*.md. README.md gets one row a suite and thread count (the geometric mean of
the ratios), docs/performance.md one row a kind of cases with two columns a report. Without a document
docs/performance.md is made from the pages of docs/notes; with --check nothing is written, and a page that is not up to
date fails.
"""

import argparse
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- numbers: tools/readme_table.py -->\n", "<!-- end of numbers -->"
HEADER = "| suite | case | schedule | threads | Lathe ms | share of the limit | best peer | ratio | spread |\n"
MACHINES = {"measured-xeon": "Xeon", "measured-zen4": "Zen 4", "measured-avx2": "Zen, AVX2"}
# Which cases a row of docs/performance.md stands for.
KINDS = {
    "copy and triad in cache (4K to 1M elements)": r"elementwise (copy|triad) (4K|64K|1M)",
    "copy and triad in memory (16M)": r"elementwise (copy|triad) 16M",
    "exp in cache": r"elementwise exp (4K|64K|1M)",
    "exp in memory": r"elementwise exp 16M",
    "GELU in cache": r"elementwise gelu (4K|64K|1M)",
    "GELU in memory": r"elementwise gelu 16M",
    "3x3 blur, Jacobi in cache (256², 1000²)": r"stencil .* (256x256|1000x1000)",
    "3x3 blur, Jacobi in memory (4096²)": r"stencil .* 4096x4096",
    "square matrix products, 64 to 2048": r"gemm (\d+)x\1x\1",
    "BERT's products, also with bias and GELU": r"gemm 128x(?!128)\d+x\d+(\+bias\+gelu)?",
    "the same, packed weights": r"gemm 128x\d+x\d+(\+bias\+gelu)? packed",
    "photo pipeline, local contrast": r"photo .*",
}
Row = dict[str, Any]


def mean(values: list[float]) -> float:
    return math.exp(sum(math.log(value) for value in values) / len(values))


def summary(rows: list[Row]) -> str:
    """One line a suite, schedule and thread count."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        if row.get("ratio") and row["suite"] != "jit":
            groups.setdefault((row["suite"], row["schedule"], row["threads"]), []).append(row)
    text = "| suite | schedule | threads | cases | best peer's time ÷ Lathe's, geometric mean | worst | peers |\n"
    text += "|---|---|---|---|---|---|---|\n"
    for (suite, schedule, threads), group in sorted(groups.items()):
        ratios = [row["ratio"] for row in group]
        peers = ", ".join(sorted({name.split()[0] for row in group for name in row["peers"]}))
        cells = [suite, schedule, str(threads), str(len(group)), f"{mean(ratios):.2f}", f"{min(ratios):.2f}", peers]
        text += f"| {' | '.join(cells)} |\n"
    return text


def details(rows: list[Row]) -> str:
    """One line a case."""
    text = HEADER + "|---|---|---|---|---|---|---|---|---|\n"
    for row in rows:
        if row.get("lathe_ms") is None:
            continue
        share = f"{row['peak_fraction']:.2f}" if row.get("peak_fraction") else "–"
        ratio = f"{row['ratio']:.2f}" if row.get("ratio") else "–"
        cells = [row["suite"], row["case"], row["schedule"], str(row["threads"]), f"{row['lathe_ms']:.4g}", share]
        cells += [row.get("best_peer") or "–", ratio, f"{row['spread']:.0%}"]
        text += f"| {' | '.join(cells)} |\n"
    return text


def kinds(reports: dict[str, list[Row]]) -> str:
    """One line a kind of cases: geometric mean and worst case of each machine on one thread and on two."""
    columns = [(machine, threads) for machine in reports for threads in (1, 2)]
    heads = [f"{machine}, {threads} thread{'s' * (threads > 1)}" for machine, threads in columns]
    text = f"| cases | schedule | {' | '.join(heads)} |\n|---|---|{'---|' * len(heads)}\n"
    for kind, pattern in KINDS.items():
        chosen = {
            machine: [row for row in rows if row["ratio"] and re.fullmatch(pattern, f"{row['suite']} {row['case']}")]
            for machine, rows in reports.items()
        }
        schedule = ", ".join(sorted({row["schedule"] for rows in chosen.values() for row in rows}))
        cells = [kind, schedule]
        for machine, threads in columns:
            ratios = [row["ratio"] for row in chosen[machine] if row["threads"] == threads]
            worst = f" ({min(ratios):.2f})" if len(ratios) > 1 else ""
            cells.append(f"{mean(ratios):.2f}{worst}" if ratios else "–")
        text += f"| {' | '.join(cells)} |\n"
    return text


def rows_of_page(text: str) -> list[Row]:
    """The rows of a table that details() wrote, with what it kept of them."""
    rows = []
    for line in text.split(HEADER)[1].splitlines()[1:]:
        if not line.startswith("|"):
            break
        suite, case, schedule, threads, _, _, _, ratio, _ = (cell.strip() for cell in line.strip("|").split("|"))
        ratio_or_none = None if ratio == "–" else float(ratio)
        rows.append(
            {"suite": suite, "case": case, "schedule": schedule, "threads": int(threads), "ratio": ratio_or_none}
        )
    return rows


def rows_of(report: Path) -> list[Row]:
    text = report.read_text()
    if HEADER in text:
        return rows_of_page(text)
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def table(document: Path, reports: list[Path]) -> str:
    if document.name == "performance.md":
        return kinds({MACHINES.get(report.stem, report.stem): rows_of(report) for report in reports})
    rows = [row for report in reports for row in rows_of(report)]
    return summary(rows) if document.name == "README.md" else details(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not up to date")
    parser.add_argument("document", nargs="?", type=Path, default=ROOT / "docs" / "performance.md")
    parser.add_argument("reports", nargs="*", type=Path)
    chosen = parser.parse_args()
    reports = chosen.reports or [ROOT / "docs" / "notes" / f"{name}.md" for name in MACHINES]
    text = chosen.document.read_text()
    before, rest = text.split(BEGIN)
    fresh = f"{before}{BEGIN}\n{table(chosen.document, reports)}\n{END}{rest.split(END)[1]}"
    if fresh != text and chosen.check:
        print(f"{chosen.document.name} does not show the tables of docs/notes as they are: run tools/readme_table.py")
        return 1
    if fresh != text:
        chosen.document.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
