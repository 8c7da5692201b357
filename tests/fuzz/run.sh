#!/usr/bin/env bash
# Builds and runs the differential fuzzer: tests/fuzz/run.sh [--cases N] [--seed S] [--seconds T] [--length STEPS]
# [--plain: no schedules] [--keep-going] [--case K [--verbose]: that case alone]. Exits with 1 if a case fails; prints the
# program, the shortest trace found that fails, and how often each primitive was accepted and refused.
set -euo pipefail
cd "$(dirname "$0")/../.."
out="${LATHE_FUZZ_BUILD:-build/fuzz}"
make --silent -f tests/fuzz/Makefile out="$out"
exec "$out/fuzz" "$@"
