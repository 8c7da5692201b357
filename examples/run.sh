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

# The photo example gets china.jpg by danielbuechele (CC BY 2.0), which scikit-learn ships.
photo=$PWD/$folder/china.jpg
fetch_photo() {
  local wheels=$folder/wheels
  rm -rf "$wheels"
  timeout 120 pip3 download -q --no-deps --only-binary :all: --retries 1 --timeout 10 -d "$wheels" scikit-learn &&
    python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' \
      "$wheels"/*.whl sklearn/datasets/images/china.jpg >"$photo.part" && mv "$photo.part" "$photo"
  local fetched=$?
  rm -rf "$wheels" "$photo.part"
  return $fetched
}
if [[ ! -f $photo ]] && ! fetch_photo >"$folder/photo.log" 2>&1; then
  echo "The sample photograph can't be had; the photo example renders a scene"
fi
if [[ -f $photo ]]; then set -- --give "09_photo=$photo" "$@"; fi
exec python3 tools/run_examples.py "$folder/examples" "$@"
