# Sourced by the scripts beside this folder, which have set `root` to the top of the source tree.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2; }

die() {
  say "${0##*/}: $*"
  exit 1
}

# The comment at the head of a script is its manual.
usage() {
  sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"
  exit 0
}

# One compiler takes up to 1.5 GiB, so memory bounds the jobs as well as cores do.
jobs() {
  local cores memory
  if [[ -n ${ROOFLINE_JOBS:-} ]]; then
    echo "$ROOFLINE_JOBS"
    return
  fi
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null || echo "$cores")
  ((memory < 1)) && memory=1
  echo $((memory < cores ? memory : cores))
}

install_deps() {
  [[ -n ${ROOFLINE_SKIP_DEPS:-} ]] || "$root/scripts/install-deps" "$@"
}

have_test_deps() { [[ -n ${ROOFLINE_SKIP_DEPS:-} ]] || "$root/scripts/install-deps" --test --check; }

# C++20 needs g++ 12; where the default is older (Ubuntu 22.04) install-deps has put version 12 beside it.
choose_compiler() {
  [[ -z ${CXX:-} ]] || return 0
  local major
  major=$(g++ -dumpversion 2>/dev/null | cut -d. -f1)
  if ((${major:-0} < 12)) && command -v g++-12 >/dev/null; then
    export CC=gcc-12 CXX=g++-12
  fi
}

# A clone in another folder finds what this one compiled.
share_compilations() {
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
}

require_preset() {
  case $1 in
    release | debug | asan | fuzz) ;;
    *) die "there is no preset '$1'; choose release, debug, asan or fuzz" ;;
  esac
}

# configure PRESET [CMAKE_ARGUMENT...]
configure() {
  local preset=$1 build=$root/build/$1 home
  shift
  choose_compiler
  share_compilations
  if [[ -f $build/CMakeCache.txt ]]; then
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
    if [[ $home != "$root" ]]; then
      say "build/$preset was made for $home: configuring it anew"
      rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    fi
  fi
  (cd "$root" && cmake --log-level=NOTICE --preset "$preset" "$@" >/dev/null)
}

# build_targets PRESET TARGET...
build_targets() {
  local preset=$1
  shift
  share_compilations
  cmake --build "$root/build/$preset" --parallel "$(jobs)" --target "$@"
}

# The clang tools of version 14 where they are there, since other versions format and judge differently.
clang_tool() {
  local name
  for name in "$1-14" "$1"; do
    if command -v "$name" >/dev/null; then
      command -v "$name"
      return
    fi
  done
  die "$1 is missing: run scripts/install-deps --ci"
}

# Our own C++ files, one a line, relative to the top; folders may be given.
own_sources() {
  (cd "$root" && find "${@:-.}" -path ./build -prune -o -path './build-*' -prune -o -path ./.git -prune -o \
    -type f \( -name '*.cpp' -o -name '*.h' \) -print | sed 's|^\./||' | LC_ALL=C sort)
}
