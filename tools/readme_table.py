"""Writes measured numbers from benchmark reports into a document: readme_table.py DOCUMENT REPORT.json...

Reports hold one JSON object a line, as bench/run.sh --json writes them. README.md gets one row a suite and thread count
(the geometric mean of the ratios), docs/performance.md one row a case.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- numbers: tools/readme_table.py -->\n", "<!-- end of numbers -->"
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
    text = "| suite | case | schedule | threads | Lathe ms | share of the limit | best peer | ratio | spread |\n"
    text += "|---|---|---|---|---|---|---|---|---|\n"
    for row in rows:
        if row.get("lathe_ms") is None:
            continue
        share = f"{row['peak_fraction']:.2f}" if row.get("peak_fraction") else "–"
        ratio = f"{row['ratio']:.2f}" if row.get("ratio") else "–"
        cells = [row["suite"], row["case"], row["schedule"], str(row["threads"]), f"{row['lathe_ms']:.4g}", share]
        cells += [row.get("best_peer") or "–", ratio, f"{row['spread']:.0%}"]
        text += f"| {' | '.join(cells)} |\n"
    return text


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    document, reports = Path(sys.argv[1]), sys.argv[2:]
    rows = [json.loads(line) for report in reports for line in Path(report).read_text().splitlines() if line.strip()]
    before, rest = document.read_text().split(BEGIN)
    table = summary(rows) if document.name == "README.md" else details(rows)
    document.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
