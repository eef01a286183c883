#!/usr/bin/env bash
# Usage: install_test.sh SOURCE_DIR BUILD_DIR CXX PROFILE
#
# Installs the tree, moves it, and builds examples/embed against it: as a CMake package and through pkg-config. Both
# must read PROFILE and say the same.

set -euo pipefail
source=$1 build=$2 cxx=$3 profile=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset DESTDIR

fail() {
  echo "install_test: $*"
  exit 1
}

DESTDIR= cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log" || fail "$(cat "$scratch/install.log")"
# What was installed may not lean on where it was installed to.
prefix="$scratch/moved here"
mv "$scratch/first" "$prefix"
for file in bin/roofline share/roofline/schema/report-1.json include/roofline/analysis.h; do
  [[ -f $prefix/$file ]] || fail "$file is not installed"
done
if grep -rIlF -e "$source" -e "$build" "$prefix" | grep .; then
  fail "the files above name the source or build folder"
fi
"$prefix/bin/roofline" --version >/dev/null || fail "the installed program does not run"

cmake -S "$source/examples/embed" -B "$scratch/by cmake" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/cmake.log" 2>&1 || fail "$(cat "$scratch/cmake.log")"
cmake --build "$scratch/by cmake" >"$scratch/cmake.log" 2>&1 || fail "$(cat "$scratch/cmake.log")"

pkgconfig=$(dirname "$(find "$prefix" -name roofline.pc)")
flags=$(PKG_CONFIG_PATH=$pkgconfig pkg-config --cflags --libs roofline) || fail "pkg-config does not find roofline"
mkdir "$scratch/by pkg-config"
# pkg-config quotes for the shell: the flags name folders with spaces.
eval "\"\$cxx\" -std=c++20 \"\$source/examples/embed/embed.cpp\" -o \"\$scratch/by pkg-config/embed\" $flags"

for how in "by cmake" "by pkg-config"; do
  "$scratch/$how/embed" "$profile" >"$scratch/$how.txt" || fail "embed built $how fails on $profile"
  grep -Eq '^total: (>= )?[0-9.]+ % of the roof' "$scratch/$how.txt" || fail "$how: no total in: $(cat "$scratch/$how.txt")"
  status=0
  "$scratch/$how/embed" "$scratch/no such file" 2>"$scratch/errors.txt" || status=$?
  [[ $status == 3 ]] || fail "$how: status $status for a file that is not there"
  grep -q 'no such file' "$scratch/errors.txt" || fail "$how: the message names no file: $(cat "$scratch/errors.txt")"
done
cmp "$scratch/by cmake.txt" "$scratch/by pkg-config.txt"
cat "$scratch/by cmake.txt"
