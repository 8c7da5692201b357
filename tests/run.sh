#!/usr/bin/env bash
# Runs every check and test of the project; installs what they need first.
# tests/run.sh [--list] [--only NAME]... [--seed N]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash tools/install_deps.sh build test examples
exec python3 tests/run.py "$@"
