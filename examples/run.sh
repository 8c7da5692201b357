#!/usr/bin/env bash
# Builds the examples, runs each, and compares what it prints; installs what they need first.
# examples/run.sh [--update] [NAME]...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash tools/install_deps.sh build examples
folder=build/run
mkdir -p "$folder"
quietly() { "$@" >"$folder/examples.log" 2>&1 || { tail -n 40 "$folder/examples.log"; exit 1; }; }
echo "Building the library and the examples"
[[ -f $folder/build.ninja ]] || options=(-DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O2 -DLATHE_BUILD_TESTS=OFF -DLATHE_BUILD_BENCH=OFF)
quietly cmake -S . -B "$folder" -G Ninja ${options[@]+"${options[@]}"}
quietly cmake --build "$folder" -j "$(nproc)" --target examples
exec python3 tools/run_examples.py "$folder/examples" "$@"
