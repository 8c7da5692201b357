#!/usr/bin/env bash
# Builds the benchmark program and runs it; installs what it needs first.
# bench/run.sh SUITE... [--filter RE] [--threads N] [--peers a,b] [--schedule default|hand] [--seconds S] [--seed N] [--json FILE] [--list]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bash "$root/tools/install_deps.sh" build bench
for tool in cmake g++; do
  command -v "$tool" >/dev/null || { echo "bench/run.sh needs $tool, which is not installed" >&2; exit 1; }
done
folder=$root/build/bench
mkdir -p "$folder"
quietly() { "$@" >"$folder/build.log" 2>&1 || { tail -n 40 "$folder/build.log" >&2; exit 1; }; }
if [[ ! -f $folder/CMakeCache.txt ]]; then
  generator=()
  command -v ninja >/dev/null && generator=(-G Ninja)
  echo "Configuring $folder" >&2
  quietly cmake -S "$root" -B "$folder" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release \
    -DLATHE_BUILD_TESTS=OFF -DLATHE_BUILD_EXAMPLES=OFF -DLATHE_BUILD_BENCH=ON
fi
echo "Building lathe_bench" >&2
quietly cmake --build "$folder" --target lathe_bench
exec "$folder/bench/lathe_bench" "$@"
