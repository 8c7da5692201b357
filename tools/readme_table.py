"""Writes the table of measured numbers into README.md from a benchmark report: readme_table.py REPORT.json.

The report's "results" are objects with kernel, shape, gflops, peer, peer_gflops and ratio.
"""

import json
import sys
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- numbers: tools/readme_table.py -->\n", "<!-- end of numbers -->"
HEADER = "| kernel | shape | Lathe GFLOP/s | peer | peer GFLOP/s | ratio |\n|---|---|---|---|---|---|\n"


def row(result: dict[str, Any]) -> str:
    gflops, peer_gflops = f"{result['gflops']:.1f}", f"{result['peer_gflops']:.1f}"
    cells = [result["kernel"], result["shape"], gflops, result["peer"], peer_gflops, f"{result['ratio']:.2f}"]
    return f"| {' | '.join(cells)} |\n"


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    report = json.loads(Path(sys.argv[1]).read_text())
    before, rest = README.read_text().split(BEGIN)
    after = rest.split(END)[1]
    table = HEADER + "".join(row(result) for result in report["results"])
    README.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
