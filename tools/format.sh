#!/usr/bin/env bash
# Formats all C++ and CUDA files of the tree; --check only names those that differ.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folders=(include tests examples cmake)
[[ -d bench ]] && folders+=(bench)
# The contract is kept as it was written.
format() {
  find "${folders[@]}" '(' -name '*.[chi]pp' -o -name '*.cu' ')' -not -path 'tests/contract/*' -print0 |
    xargs -0 clang-format "$@"
}
if [[ ${1:-} != --check ]]; then
  format -i
elif ! problems=$(format --dry-run --Werror 2>&1); then
  printf '%s\n' "Not as tools/format.sh would have it:"
  sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error.*/\1/p' <<<"$problems" | sort -u
  exit 1
fi
