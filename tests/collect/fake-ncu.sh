#!/bin/sh
# Stands in for ncu: takes its options, says what it would say, and fails in the way that FAKE_NCU names.
# FAKE_REPORT and FAKE_TYPES are the files it "measures"; FAKE_ARGUMENTS receives its arguments, one a line.
case "$1" in
--version) printf 'NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 0) (public-release)\n'; exit 0 ;;
--help) printf '%s\n' --graph-profiling --kernel-name-base --kernel-id; exit 0 ;;
esac
if [ -n "$FAKE_ARGUMENTS" ]; then
  for argument in "$@"; do printf '%s\n' "$argument"; done > "$FAKE_ARGUMENTS"
fi
types=no
while [ $# -gt 0 ]; do
  case "$1" in
  --export) out=$2; shift 2 ;;
  --kernel-id) types=yes; shift 2 ;;
  --nvtx | --force-overwrite) shift ;;
  -*) shift 2 ;;
  *) break ;;
  esac
done
echo "==PROF== Connected to process 100 ($1)"
case "$FAKE_NCU" in
permission)
  echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
  exit 1 ;;
application)
  echo "==PROF== Disconnected from process 100"
  echo "==ERROR== The application returned an error code (3)."
  exit 1 ;;
late-application)
  echo '==PROF== Profiling "gemm" - 0: 0%....50%....100% - 3 passes'
  cp "$FAKE_REPORT" "$out.ncu-rep"
  echo "==ERROR== The application returned an error code (7)."
  exit 1 ;;
no-kernels)
  echo "==PROF== Disconnected from process 100"
  echo "==WARNING== No kernels were profiled."
  exit 0 ;;
children)
  for process in 101 102; do
    echo "==PROF== Connected to process $process (/usr/bin/nvidia-smi)"
    echo "==PROF== Disconnected from process $process"
  done
  echo "==PROF== Disconnected from process 100"
  exit 0 ;;
exists)
  echo "==ERROR== The file $out.ncu-rep already exists. Use -f to overwrite it."
  exit 1 ;;
busy)
  echo "==ERROR== Profiling failed because a driver resource was unavailable."
  exit 9 ;;
silent) exit 5 ;;
unknown) echo "==ERROR== The moon is in the wrong house"; exit 1 ;;
warned)
  echo "==WARNING== Profiling kernels launched by the child is not compatible with its sandbox"
  echo "==WARNING== A file of that name already exists" ;;
partly)
  echo '==PROF== Profiling "foo" - 0: '
  echo '==ERROR== Failed to profile "foo" in process 100' ;;
none-through)
  echo '==PROF== Profiling "foo" - 0: '
  echo '==ERROR== Failed to profile "foo" in process 100'
  cp "$FAKE_REPORT" "$out.ncu-rep"
  exit 1 ;;
hang) while :; do sleep 1; done ;;
killed) kill -9 $$ ;;
esac
"$@" || {
  echo "==ERROR== The application returned an error code ($?)."
  exit 1
}
echo '==PROF== Profiling "gemm" - 0: 0%....50%....100% - 3 passes'
echo '==PROF== Profiling "norm" - 1: 0%....50%....100% - 3 passes'
if [ "$types" = yes ]; then cp "$FAKE_TYPES" "$out.ncu-rep"; else cp "$FAKE_REPORT" "$out.ncu-rep"; fi
echo "==PROF== Disconnected from process 100"
[ "$FAKE_NCU" != partly ] || exit 1
