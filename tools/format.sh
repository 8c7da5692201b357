#!/usr/bin/env bash
# Formats all C++ files of the tree; --check only names those that differ.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
action=(-i)
[[ ${1:-} == --check ]] && action=(--dry-run --Werror)
folders=(include tests examples cmake)
[[ -d bench ]] && folders+=(bench)
# The contract is kept as it was written.
find "${folders[@]}" -name '*.[chi]pp' -not -path 'tests/contract/*' -print0 |
  xargs -0 -P "$(nproc)" -n 16 clang-format "${action[@]}"
