#!/usr/bin/env python3
"""Fills a history with generated records and times what people wait for.

    bench/history_rows.py --program build/release/roofline [--store FILE|URL] [--records 1000] [--kernels 1000]

The records (2,600 kernel names in all, 3 % of noise) go in through `roofline history import`; into a file the
first 20 of them, of which the others are copies. Then each command
runs as a whole process, start to end: `record` of one report with that many kernels, `gate` of one such report against
the newest record and against five, `trend` of one kernel, `list`. Medians of nine runs. At the end the database's own
plans, by `roofline history list --explain`.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time


def kernels(count, noise):
    rows = []
    for i in range(count):
        size = 1e-4 * (1 + i % 7) * (50 if i < 10 else 1)  # ten kernels have a third of the time
        seconds = size * noise.gauss(1, 0.03)
        share = 0.9 * size
        name = f"layer_kernel_{'abcdefghijklmnopqrstuvwxyz'[i % 26]}{'abcdefghijklmnopqrst'[i // 26 % 20]}"
        rows.append({"name": name, "full_name": f"void ns::{name}<float, {i % 5}>(float const*, int)", "operator": None,
                     "grid": [1 + i // 260, 1, 1], "block": [256, 1, 1], "launches": 1, "time_s": seconds,
                     "time_share": 1 / count, "time_basis": "profiled", "clock_hz": 1.7e9,
                     "flops": {"total": 2e8, "by_precision": {"bf16.tensor": 2e8}, "bound": "exact"}, "ops": {},
                     "bytes": {"dram": {"total": 3.35e12 * share, "bound": "exact"}},
                     "roof": {"ceiling": "at-clock", "time_s": share, "fraction": share / seconds, "bound": "exact",
                              "binding": "dram", "regime": "memory"},
                     "roof_datasheet": {"time_s": share, "fraction": share / seconds, "binding": "dram", "regime": "memory",
                                        "bound": "exact"},
                     "position": "memory-optimal", "look": False, "gain_s": 0})
    return rows


def report(count, noise):
    rows = kernels(count, noise)
    total = sum(r["time_s"] for r in rows)
    return {"schema": "roofline/report/1", "tool": {"name": "roofline", "version": "0", "catalogue_version": "bench"},
            "options": {"thresholds": {}}, "inputs": [{"id": 0, "path": "bench", "format": "table"}],
            "machines": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "kernels": rows,
            "total": {"time_s": total, "fraction": 0.9, "bound": "exact", "placed_time_share": 1, "ceiling": "at-clock"},
            "warnings": []}


def fill(options, noise):
    command = [options.program, "history", "import", "-", "--store", options.store]
    started = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for i in range(options.records):
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1.7e9 + 3600 * i))
        process.stdin.write(json.dumps({"schema": "roofline/history-record/1", "uid": f"{random.getrandbits(128):032x}",
                                        "time": stamp, "labels": {"branch": "main", "commit": str(i // 5)},
                                        "report": report(options.kernels, noise)}) + "\n")
    process.stdin.close()
    said = process.stdout.read().strip()
    if process.wait() != 0:
        sys.exit("history_rows: the import failed")
    print(f"import of {options.records * options.kernels} rows: {said}, {time.monotonic() - started:.1f} s with the generator", flush=True)


# Tables with a record in each row, and which columns tell records apart.
TABLES = {"roofline_record": {"id": "id + {shift}", "uid": "lower(hex(randomblob(16)))",
                              "recorded_at": "recorded_at + 3600000000 * {shift}"},
          "roofline_label": {"record_id": "record_id + {shift}"}, "roofline_report": {"record_id": "record_id + {shift}"},
          "roofline_kernel": {"record_id": "record_id + {shift}"}}


def multiply(options, made):
    """A file is filled by copies of what the program itself has stored: its rows and reports, with ids and times of their own."""
    started = time.monotonic()
    store = sqlite3.connect(options.store)
    for shift in range(made, options.records, made):
        for table, changed in TABLES.items():
            columns = [row[1] for row in store.execute(f"PRAGMA table_info({table})")]
            values = [changed.get(c, c).format(shift=shift) for c in columns]
            key = "id" if "id" in columns else "record_id"
            store.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table} "
                          f"WHERE {key} <= {made}")
    store.commit()
    store.close()
    print(f"copied up to {options.records * options.kernels} rows in {time.monotonic() - started:.1f} s", flush=True)


def timed(name, command, allowed=(0,)):
    wall, processor = [], []
    for _ in range(9):
        started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wall.append(time.monotonic() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if done.returncode not in allowed:
            sys.exit(f"history_rows: {name} ended with {done.returncode}: {done.stderr}")
    middle, least = sorted(wall)[len(wall) // 2], min(wall)
    print(f"{name:<34} median {middle * 1e3:7.1f} ms, best {least * 1e3:7.1f} ms, "
          f"processor {sorted(processor)[len(processor) // 2] * 1e3:7.1f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--store")
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--kernels", type=int, default=1000)
    options = parser.parse_args()
    noise = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        options.store = options.store or str(pathlib.Path(folder) / "history.db")
        server, all_records = "://" in options.store, options.records
        options.records = all_records if server else min(all_records, 20)
        fill(options, noise)
        made, options.records = options.records, all_records
        if made < all_records:
            multiply(options, made)
        path = pathlib.Path(folder) / "new.json"
        path.write_text(json.dumps(report(options.kernels, noise)))
        if os.path.exists(options.store):
            print(f"{os.path.getsize(options.store) / 1e6:.0f} MB for {options.records * options.kernels} rows")
        base = [options.program, "history"]
        store = ["--store", options.store]
        timed("(start of the program)", [options.program, "--version"])
        # Before the runs of `record`: those add records of their own.
        timed("gate against the newest record", [*base, "gate", path, "--baseline", "latest:1", "--noise", "3%", *store], (0, 1, 4))
        timed("gate against the newest five", [*base, "gate", path, "--baseline", "latest:5", "--noise", "3%", *store], (0, 1, 4))
        timed("gate, noise from 40 records", [*base, "gate", path, "--baseline", "latest:1", *store], (0, 1, 4))
        timed("trend of one kernel", [*base, "trend", "layer_kernel_aa", *store])
        timed("trend of one kernel, newest 50", [*base, "trend", "layer_kernel_aa", "-n", "50", *store])
        timed("list, newest 20", [*base, "list", "-n", "20", *store])
        timed(f"record of {options.kernels} rows", [*base, "record", path, *store])
        print(subprocess.run([*base, "list", "--explain", *store], stdout=subprocess.PIPE, text=True).stdout)


if __name__ == "__main__":
    main()
