#!/usr/bin/env bash
# Builds and runs the differential fuzzer: tests/fuzz/run.sh [--cases N] [--seed S] [--seconds T] [--length STEPS]
# [--family NAME: programs of one kind] [--program FILE …: each eighth case, or all with --family none] [--plain: no schedules] [--c: the code is C] [--keep-going] [--case K [--verbose]: that case alone]. First come the saved cases of
# tests/fuzz/saved, and random schedules of tests/fuzz/programs are among the cases; what a failure prints between the lines ---- can be saved there. Exits with 1 if a case fails; prints
# the program, the shortest trace found that fails, how many programs of each family ran, and how often each primitive was
# accepted and refused. docs/reliability.md tells more.
set -euo pipefail
cd "$(dirname "$0")/../.."
out="${LATHE_FUZZ_BUILD:-build/fuzz}"
make --silent -f tests/fuzz/Makefile out="$out"
saved=()
for file in tests/fuzz/saved/*.txt; do saved+=(--file "$file"); done
for file in tests/fuzz/programs/*.txt; do saved+=(--program "$file"); done
exec "$out/fuzz" "${saved[@]}" "$@"
