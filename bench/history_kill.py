#!/usr/bin/env python3
"""Records from several processes at once, kills them at random, and looks for what was lost.

    bench/history_kill.py --program build/release/roofline --store /tmp/h.db [--seconds 60] [--writers 8]
    bench/history_kill.py --program build/release/roofline --store postgresql:///postgres?host=/run/postgresql

Each writer runs `roofline history record` in a loop; a killer sends SIGKILL to one of the running commands about ten
times a second. A record whose id a command has printed counts as committed: afterwards each of them must be there, whole,
with the report that its writer gave it, and no record may be half there. Exit status 1 where that is not so.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time


def report(writer, kernels):
    """A report that says who wrote it."""
    rows = [{"name": f"kernel_{i}", "full_name": f"void kernel_{i}<{writer}>()", "launches": 1, "time_s": 1e-3,
             "time_share": 1 / kernels, "time_basis": "given", "position": "memory-optimal",
             "bytes": {"dram": {"total": 3e9, "bound": "exact"}},
             "roof": {"ceiling": "datasheet", "time_s": 9e-4, "fraction": 0.9, "bound": "exact", "binding": "dram",
                      "regime": "memory"}} for i in range(kernels)]
    return json.dumps({"schema": "roofline/report/1", "tool": {"name": "roofline", "version": "0", "catalogue_version": None},
                       "options": {"thresholds": {}}, "inputs": [{"id": 0, "path": f"writer {writer}", "format": "table"}],
                       "machines": [{"id": 0, "name": "Test GPU"}], "kernels": rows,
                       "total": {"time_s": 1e-3 * kernels, "ceiling": "datasheet"}, "warnings": []})


class Writers:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.running, self.lock = {}, threading.Lock()
        self.committed, self.killed, self.failed = {}, 0, []
        self.end = time.monotonic() + options.seconds

    def write(self, writer):
        path = self.folder / f"{writer}.json"
        path.write_text(report(writer, self.options.kernels))
        while time.monotonic() < self.end:
            command = [self.options.program, "history", "record", str(path), "--label", f"writer={writer}", "--store",
                       self.options.store]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            with self.lock:
                self.running[process.pid] = process
            out, err = process.communicate()
            with self.lock:
                del self.running[process.pid]
                if out.endswith("\n"):
                    self.committed[int(out)] = writer
                if process.returncode == -signal.SIGKILL:
                    self.killed += 1
                elif process.returncode != 0:
                    self.failed.append(err.strip())

    def kill(self):
        while time.monotonic() < self.end:
            time.sleep(random.uniform(0, 0.2))
            with self.lock:
                victims = [p for p in self.running.values() if p.poll() is None]
                if victims:
                    random.choice(victims).kill()


def output(options, *arguments):
    done = subprocess.run([options.program, "history", *arguments, "--store", options.store], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"history_kill: {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stdout


def check(options, writers):
    """What is wrong with the store, as sentences."""
    faults = [f"a writer failed: {text}" for text in writers.failed[:5]]
    lines = output(options, "export", "--format", "json").splitlines()
    by_uid = {}
    for line in lines:
        record = json.loads(line)
        writer = record["labels"].get("writer")
        path = record["report"]["inputs"][0]["path"]
        if path != f"writer {writer}" or len(record["report"]["kernels"]) != options.kernels:
            faults.append(f"record {record['uid']} is not what writer {writer} gave")
        by_uid[record["uid"]] = writer
    table = json.loads(output(options, "list", "--json"))["tables"]
    rows = [dict(zip(t["columns"], row)) for t in table for row in t["rows"]]
    present = {int(row["id"]): row for row in rows}
    for identifier, writer in writers.committed.items():
        row = present.get(identifier)
        if row is None:
            faults.append(f"record {identifier} was confirmed to writer {writer} and is lost")
        elif by_uid[row["uid"]] != str(writer) or int(row["kernels"]) != options.kernels:
            faults.append(f"record {identifier} is not the one confirmed to writer {writer}")
    csv_rows = len(output(options, "export", "--format", "csv").splitlines()) - 1
    if csv_rows != len(present) * options.kernels:
        faults.append(f"{csv_rows} rows of kernels for {len(present)} records of {options.kernels}")
    if "://" not in options.store:
        verdict = sqlite3.connect(options.store).execute("PRAGMA integrity_check").fetchone()[0]
        if verdict != "ok":
            faults.append(f"integrity check: {verdict}")
    return faults, len(present)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--store", required=True, help="a file, a URL, or @FOLDER for the URL that scripts/lib/postgresql wrote")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--kernels", type=int, default=200)
    options = parser.parse_args()
    if options.store.startswith("@"):
        url = pathlib.Path(options.store[1:]) / "url"
        if not url.exists():
            print("history_kill: no PostgreSQL server was started")
            return 77
        options.store = url.read_text().strip()
    with tempfile.TemporaryDirectory() as folder:
        if not os.path.isabs(options.store) and "://" not in options.store:
            options.store = str(pathlib.Path(folder) / options.store)
        writers = Writers(options, pathlib.Path(folder))
        threads = [threading.Thread(target=writers.write, args=(i,)) for i in range(options.writers)]
        threads.append(threading.Thread(target=writers.kill))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        faults, present = check(options, writers)
        print(f"{options.writers} writers for {options.seconds:g} s: {len(writers.committed)} records confirmed, "
              f"{writers.killed} commands killed, {present} records in the store, {len(faults)} faults")
        for fault in faults[:20]:
            print(f"  {fault}")
        # Killed on its way out a command has confirmed nothing, though its record may be there.
        return 1 if faults or not writers.committed or not writers.killed else 0


if __name__ == "__main__":
    sys.exit(main())
