#!/usr/bin/env python3
"""Runs command-line transcripts and compares what the program says with what they hold.

A transcript is a text file:

    # Comments and blank lines before the first command are kept.
    $ roofline report table.csv --top 1
    what standard output says, as it is
    2| what standard error says, a line each
    exit 3

    $ the next command, run by bash at the top of the source tree

`exit` stands where the status is not 0. $SCRATCH is a folder of its own for each transcript. Lines of standard output
that look like one of these marks get a backslash before them. With --update the files are written anew.

Standard output that is a JSON report must keep to the schema; where it does not, no transcript of it passes.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

NO_NEWLINE = "\\ no newline at the end"
MARK = re.compile(r"(\\*)(\$ |2\| ?|exit \d+$|\\ no newline|# )")


def protect(line):
    return "\\" + line if MARK.match(line) else line


def schema_violation(out, schema):
    """What a JSON report breaks of the schema, or None; also None for what is no JSON report."""
    try:
        report = json.loads(out)
    except ValueError:
        return None
    if not isinstance(report, dict) or not str(report.get("schema", "")).startswith("roofline/report/"):
        return None
    if jsonschema is None:
        sys.exit("golden: a JSON report cannot be checked without python3-jsonschema: run scripts/install-deps --test")
    rules = json.loads(schema.read_text())
    validator = jsonschema.validators.validator_for(rules, default=jsonschema.Draft7Validator)
    error = validator(rules).iter_errors(report)
    first = next(error, None)
    return first and f"breaks {schema.name} at {'/'.join(map(str, first.absolute_path))}: {first.message[:300]}"


def run(command, root, environment):
    """What the transcript of this command should read."""
    done = subprocess.run(["bash", "-c", command], cwd=root, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    lines = ["$ " + command]
    out = done.stdout.decode("utf-8", "backslashreplace").replace(environment["SCRATCH"], "$SCRATCH")
    lines += [protect(line) for line in out.split("\n")[:-1]]
    if out and not out.endswith("\n"):
        lines += [protect(out.split("\n")[-1]), NO_NEWLINE]
    err = done.stderr.decode("utf-8", "backslashreplace").replace(environment["SCRATCH"], "$SCRATCH")
    lines += [("2| " + line).rstrip() for line in err.splitlines()]
    if violation := schema_violation(out, root / "schema" / "report-1.json"):
        raise ValueError(f"{command}: {violation}")
    if done.returncode != 0:
        lines.append(f"exit {done.returncode}")
    return lines


def replay(text, root, environment):
    """The transcript as it should read now, given the commands and comments it holds."""
    head, commands = [], []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
        elif not commands:
            head.append(line)
    if not commands:
        raise ValueError("no line that starts with '$ '")
    blocks = ["\n".join(run(command, root, environment)) for command in commands]
    prefix = "\n".join(head).strip("\n")
    return (prefix + "\n\n" if prefix else "") + "\n\n".join(blocks) + "\n"


def environment_for(program, scratch):
    """Nothing of the person who runs the tests may show."""
    kept = {key: value for key, value in os.environ.items() if key.startswith(("ASAN_", "UBSAN_", "LSAN_"))}
    return kept | {
        "PATH": f"{program.parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": scratch,
        "SCRATCH": scratch,
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }


def main():
    parser = argparse.ArgumentParser(description="Runs command-line transcripts.")
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the built `roofline`")
    parser.add_argument("--root", type=pathlib.Path, required=True, help="the top of the source tree")
    parser.add_argument("--update", action="store_true", help="write the files anew")
    parser.add_argument("transcripts", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    failed = 0
    for path in arguments.transcripts:
        # Line ends are part of what a program says: CSV has both characters.
        held = path.read_bytes().decode("utf-8")
        with tempfile.TemporaryDirectory(prefix="roofline-golden-") as scratch:
            try:
                now = replay(held, arguments.root, environment_for(arguments.program.resolve(), scratch))
            except ValueError as error:
                print(f"{path.name}: {error}")
                failed += 1
                continue
        if now == held:
            continue
        if arguments.update:
            path.write_bytes(now.encode("utf-8"))
            print(f"updated {path}")
            continue
        failed += 1
        sys.stdout.writelines(difflib.unified_diff(held.splitlines(True), now.splitlines(True), str(path), "now"))
        print(f"\nIf the new text is right: scripts/golden --update {path.name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
