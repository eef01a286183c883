#!/usr/bin/env bash
# Usage: full_disk_test.sh PROGRAM EXAMPLE [FOLDER_OF_THE_SERVER]
#
# Records until a small disk is full: on a file, or on the PostgreSQL server that scripts/lib/postgresql started. The
# command that finds no room says so; every record before it stays, and the store works again once there is room. Exit
# status 77 (skipped) where no disk can be mounted or there is no server.

set -euo pipefail
program=$1 example=$2 server=${3:-}
disk=$(mktemp -d /tmp/roofline-full-disk.XXXXXX)
scratch=$(mktemp -d)

cleanup() {
  if [[ -n ${url:-} && $store == postgresql* ]]; then
    psql -qX "$url" -c 'DROP SCHEMA IF EXISTS full_disk CASCADE' -c 'DROP TABLESPACE IF EXISTS full_disk' >/dev/null 2>&1 || true
  fi
  umount "$disk" 2>/dev/null || true
  rm -rf "$disk" "$scratch"
}
store=
trap cleanup EXIT

fail() {
  echo "full_disk_test: $*"
  exit 1
}
skip() {
  echo "$*: skipped"
  exit 77
}

((EUID == 0)) || skip "only root mounts disks"
size=400k
[[ -z $server ]] || size=1m
mount -t tmpfs -o "size=$size" none "$disk" 2>/dev/null || skip "no disk can be mounted here"
if [[ -n $server ]]; then
  [[ -f $server/url ]] || skip "no PostgreSQL server was started"
  command -v psql >/dev/null || skip "there is no psql"
  url=$(<"$server/url")
  mkdir "$disk/space"
  chown --reference="$(<"$server/cluster")" "$disk/space"
  psql -qX "$url" -c "CREATE TABLESPACE full_disk LOCATION '$disk/space'" -c 'CREATE SCHEMA full_disk' >/dev/null
  store="$url&options=-csearch_path%3Dfull_disk%20-cdefault_tablespace%3Dfull_disk"
else
  store=$disk/history.db
fi

record() { "$program" history record "$example" --machine h100 --store "$store" >"$scratch/out" 2>"$scratch/err"; }
records() { "$program" history export --format json --store "$store" | wc -l; }

stored=0 status=0
while ((stored < 400)); do
  record || status=$?
  ((status == 0)) || break
  stored=$((stored + 1))
done
((status == 3)) || fail "status $status after $stored records: $(cat "$scratch/err")"
grep -Eq 'full|No space' "$scratch/err" || fail "the message does not say it: $(cat "$scratch/err")"
((stored > 0)) || fail "there was no room for one record"
[[ $(records) == "$stored" ]] || fail "$(records) of $stored records are left"
mount -o "remount,size=64m" "$disk"
record || fail "with room again: $(cat "$scratch/err")"
[[ $(records) == $((stored + 1)) ]] || fail "$(records) records instead of $((stored + 1))"
echo "$stored records until the disk was full; all are there: $(cat "$scratch/out")"
