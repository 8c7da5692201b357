#!/usr/bin/env bash
# Installs what the named sections of packages.txt need: install_deps.sh build test
# Does nothing when everything is there; away from Debian and Ubuntu it only says what to install.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

present() {
  local kind=${1%%:*} name=${1#*:}
  case $kind in
    command) command -v "$name" >/dev/null ;;
    file) [[ -e $name ]] ;;
    library) { PATH=$PATH:/sbin ldconfig -p 2>/dev/null || true; } | grep -F "$name" >/dev/null ;;
    runtime) command -v clang++ >/dev/null && compgen -G "$(clang++ --print-runtime-dir)/libclang_rt.$name-*" >/dev/null ;;
    header) command -v g++ >/dev/null && echo "#include <$name>" | g++ -std=c++20 -E -x c++ - >/dev/null 2>&1 ;;
  esac
}

# missing NEED SECTION...: the packages of these sections that are not there.
missing() {
  local need=$1 section package probe wanted
  shift
  while read -r section package probe wanted; do
    [[ $section != '#'* && $wanted == "$need" && " $* " == *" $section "* ]] || continue
    present "$probe" || echo "$package"
  done <packages.txt | sort -u
}

# What the benchmark compares with that only PyPI has, in a folder of its own. The version is the one
# that published figures are of.
install_from_pypi() {
  local folder=../build/pypi
  command -v pip3 >/dev/null && command -v python3 >/dev/null || return 0
  [[ -e $folder/lib/libdnnl.so.3 ]] && return
  echo "Installing oneDNN 3 from PyPI (2 GB)"
  python3 -m venv --without-pip "$folder" &&
    pip3 --python "$folder/bin/python3" install -q --retries 1 --disable-pip-version-check \
      onednn==2026.1.0 onednn-devel==2026.1.0 >/dev/null 2>&1 && return
  rm -rf "$folder"
  echo "Not available here: onednn of PyPI (what needs it is skipped)" >&2
}
if [[ " $* " == *" bench "* ]]; then install_from_pypi; fi

mapfile -t required < <(missing required "$@")
mapfile -t optional < <(missing optional "$@")
((${#required[@]} + ${#optional[@]})) || exit 0

if ! command -v apt-get >/dev/null; then
  ((${#required[@]})) || exit 0
  echo "Please install what these Debian packages hold, then run this again: ${required[*]}" >&2
  exit 1
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    ((${#required[@]})) || exit 0
    echo "Please run as root: apt-get install ${required[*]} ${optional[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" \
    </dev/null >/dev/null
}

echo "Installing ${required[*]} ${optional[*]}"
"${as_root[@]}" apt-get update -qq </dev/null || echo "apt-get update failed; trying with the lists that are here" >&2
if ((${#required[@]})); then install "${required[@]}"; fi
for package in "${optional[@]}"; do
  install "$package" || echo "Not available here: $package (what needs it is skipped)" >&2
done
