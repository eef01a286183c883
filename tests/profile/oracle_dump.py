"""Compares dump_ncu_rep with an independent decoder over all real reports, fact by fact.

usage: oracle_dump.py DUMP_NCU_REP SHARED   ($ROOFLINE_SHARED wins over SHARED); exit 77 = no data here
"""
import csv
import glob
import math
import os
import struct
import subprocess
import sys

SKIP = 77


def bits(value):
    if value is None or value != value:
        return "nan"
    return "%016x" % struct.unpack("<Q", struct.pack("<d", float(value)))[0]


def flat(text):
    return text.replace("\t", " ").replace("\n", " ").replace("\r", " ")


def canonical_names():
    """Old spelling -> the name it is kept under, from the catalogue."""
    catalogue = os.path.join(os.path.dirname(__file__), "..", "..", "data", "metrics.csv")
    with open(catalogue, encoding="utf-8", newline="") as lines:
        return {alias: row["name"] for row in csv.DictReader(lines) for alias in row["aliases"].split(";") if alias}


def metric_lines(result, canonical):
    for name, metric in result.metrics.items():
        value = metric.value
        name = canonical.get(name, name)
        if isinstance(value, str):
            yield "text\t%s\t%s" % (name, flat(value))
        elif value is not None and not math.isnan(value):
            yield "metric\t%s\t%s" % (name, bits(value))


def rule_line(decoder, view, offset):
    rule = decoder._tree(view, offset)
    bodies = [decoder._sub(body) for body in rule.get(3, ())]
    items = [decoder._sub(item) for body in bodies for item in body.get(1, ())]
    return "rule\t%s\t%d" % (decoder._text(rule[1][0][0]), sum(1 in item for item in items))


def blocks(result):
    """The grid in blocks: the first versions wrote it in threads, beside a metric that counts blocks."""
    metric = result.metrics.get("launch__grid_size")
    size = metric.value if metric else None
    if not size or not all(result.block) or math.prod(result.grid) == size:
        return result.grid
    if math.prod(result.grid) == size * math.prod(result.block):
        return tuple(g // b for g, b in zip(result.grid, result.block))
    return result.grid


def expected(decoder, path, canonical):
    report = decoder.load(path)
    version = report.ncu_version.split(" ")[0]
    lines = ["producer\tNsight Compute" + (" " + version if version else "")]
    for ordinal, result in enumerate(report.results):
        lines.append("launch\t%d\t%s\t%s\t%s" % (ordinal, flat(result.name), flat(result.function), flat(result.mangled)))
        lines.append("shape\t%s\t%s" % (",".join(map(str, blocks(result))), ",".join(map(str, result.block))))
        device = result.metrics.get("device__attribute_display_name")
        lines.append("place\t%d\t%d\t%s" % (result.context_id or 0, result.stream_id or 0,
                                            device.value if device and device.value else report.gpu))
        basis = "profiled-locked" if result.clock_control == (1, 1) else "profiled"
        lines.append("state\t%s\t%s" % ("failed" if result.failed else "ok", basis))
        lines += metric_lines(result, canonical)
        for line in decoder.section_rooflines(result):
            lines.append("\t".join(["roofline", line["section"], line["chart"], line["label"], line["kind"],
                                    bits(line["work"]), bits(line["traffic"]), line["work_expr"], line["traffic_expr"]]))
        lines += [rule_line(decoder, view, offset) for view, offset in result.rule_views]
    return lines


def by_launch(lines):
    """Facts of one launch have no order."""
    groups = [[]]
    for line in lines:
        if line.startswith("launch\t"):
            groups.append([])
        groups[-1].append(line)
    return [sorted(group) for group in groups]


def differences(ours, theirs):
    if len(ours) != len(theirs):
        return ["%d launches, not %d" % (len(ours) - 1, len(theirs) - 1)]
    out = []
    for ordinal, (a, b) in enumerate(zip(ours, theirs), -1):
        out += ["launch %d: only here: %s" % (ordinal, x) for x in sorted(set(a) - set(b))]
        out += ["launch %d: missing: %s" % (ordinal, x) for x in sorted(set(b) - set(a))]
        if len(a) != len(b):
            out.append("launch %d: %d facts, not %d" % (ordinal, len(a), len(b)))
    return out


def main():
    program, shared = sys.argv[1], os.environ.get("ROOFLINE_SHARED") or sys.argv[2]
    files = sorted(glob.glob(os.path.join(shared, "data", "ncu-rep*", "*")))
    if not files or not os.path.exists(os.path.join(shared, "oracle", "ncu_rep.py")):
        print("skipped: no real reports or no independent decoder in", shared)
        return SKIP
    sys.path.insert(0, os.path.join(shared, "oracle"))
    sys.dont_write_bytecode = True
    import ncu_rep as decoder

    canonical = canonical_names()
    failed = facts = launches = rooflines = 0
    for path in files:
        run = subprocess.run([program, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        ours = by_launch(run.stdout.decode("utf-8").splitlines())
        theirs = by_launch(expected(decoder, path, canonical))
        problems = differences(ours, theirs) if run.returncode == 0 else [run.stderr.decode("utf-8", "replace")]
        facts += sum(map(len, ours))
        launches += len(ours) - 1
        rooflines += sum(line.startswith("roofline") for group in ours for line in group)
        if problems:
            failed += 1
            print(os.path.basename(path), *problems[:20], sep="\n  ")
    print("%d files, %d launches, %d facts compared, %d of them roofline lines; %d files differ"
          % (len(files), launches, facts, rooflines, failed))
    return 1 if failed or facts == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
