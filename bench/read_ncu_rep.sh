#!/bin/sh
# Reading a report against `cat FILE | wc -c` on a warm cache: alternating, median of five.
# usage: read_ncu_rep.sh READ_NCU_REP FILE...
set -eu
reader=$1
shift
rounds=5

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.4f\n", b - a }'; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

for file in "$@"; do
  dir=$(mktemp -d)
  cat "$file" >/dev/null # warms the cache
  for _ in $(seq $rounds); do
    start=$(now)
    # The pipe is the yardstick, not a way to get the size.
    # shellcheck disable=SC2002
    cat "$file" | wc -c >/dev/null
    since "$start" >>"$dir/cat"
    start=$(now)
    "$reader" "$file" >"$dir/last"
    since "$start" >>"$dir/read"
  done
  size=$(wc -c <"$file")
  read_s=$(median <"$dir/read")
  cat_s=$(median <"$dir/cat")
  anon=$(sed 's/.*rss_anon_kib \([0-9]*\).*/\1/' "$dir/last")
  awk -v f="$file" -v n="$size" -v r="$read_s" -v c="$cat_s" -v a="$anon" 'BEGIN {
    printf "%s: %.0f MB, read %.3f s, cat|wc %.3f s (ratio %.2f), RssAnon %.1f MiB = %.2f %% of the file\n",
           f, n / 1e6, r, c, r / c, a / 1024, a * 1024 * 100 / n }'
  cat "$dir/last"
  rm -r "$dir"
done
