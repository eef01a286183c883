#!/usr/bin/env python3
"""Writes an SQLite database as Nsight Systems exports it: kernels, their launch calls, copies and NVTX ranges.

Usage: bench/make_nsys_sqlite.py OUT.sqlite KERNELS
"""
import os
import sqlite3
import sys

STEP = 400  # kernels of one step
NAMES = 60


def rows(count):
    """One (kernel, launch call) pair after the other; the host runs a few launches ahead of the GPU."""
    gpu = host = 1_000_000
    for i in range(count):
        place = i % STEP
        host += 2_500 if place else 60_000
        start = max(gpu + 900, host + 6_000)
        gpu = start + 3_000 + 37 * (place % 50)
        yield start, gpu, host, place


def main():
    path, count = sys.argv[1], int(sys.argv[2])
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.executescript("""
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'NVIDIA Nsight Systems'),
          ('EXPORT_PRODUCT_VERSION', '2025.3.2'), ('EXPORT_SCHEMA_VERSION', '3.20.3');
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, computeMajor INTEGER, computeMinor INTEGER, smCount INTEGER);
        INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 9, 0, 132);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
          greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
          shortName INTEGER, mangledName INTEGER, launchType INTEGER, registersPerThread INTEGER, gridX INTEGER,
          gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER,
          dynamicSharedMemory INTEGER, graphNodeId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
          correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
          globalTid INTEGER);
    """)
    names = [(1, "cudaLaunchKernel_v7000")]
    for n in range(NAMES):
        names += [(10 + 2 * n, f"void layer_kernel_{n}<float, (int){n}>(T1 *, int)"), (11 + 2 * n, f"layer_kernel_{n}")]
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", names)
    pid = 4711 << 24
    kernels, calls, ranges = [], [], []
    for i, (start, end, host, place) in enumerate(rows(count)):
        name = 10 + 2 * (place % NAMES)
        kernels.append((start, end, 0, 1, None, 7, i + 1, pid, name, name + 1, name, 1, 64, 8 + place % 4, 1, 1, 256, 1, 1,
                        0, 16384, None))
        calls.append((host, host + 1_800, 1, pid + 4711, i + 1, 1, 0, None))
        if place == 0:
            ranges.append((host - 500, host + STEP * 2_500, 59, f"step {i // STEP}", None, pid + 4711))
    db.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({','.join('?' * 22)})", kernels)
    db.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({','.join('?' * 8)})", calls)
    db.executemany(f"INSERT INTO NVTX_EVENTS VALUES ({','.join('?' * 6)})", ranges)
    db.commit()
    db.close()


main()
