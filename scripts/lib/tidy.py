"""clang-tidy over the compilation database, in parallel, remembering what passed."""

import argparse
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--clang-tidy", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("files", nargs="*")
    return parser.parse_args()


def own_commands(root, build, wanted):
    """The compilation commands of our own files: not of generated ones, nor of files that are gone."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["directory"], entry["file"])
        if not file.exists() or build in file.parents or root not in file.parents:
            continue
        name = str(file.relative_to(root))
        if not wanted or name in wanted:
            commands[name] = entry
    for name in wanted - commands.keys():
        sys.exit(f"tidy: {name} is not compiled by the debug preset")
    return commands


def dependencies(entry):
    """Every file the compiler reads for this one, by the compiler's own word."""
    words = shlex.split(entry["command"])
    if os.path.basename(words[0]) == "ccache":
        words = words[1:]
    output = words.index("-o")
    del words[output : output + 2]
    words.remove("-c")
    made = subprocess.run(words + ["-M"], cwd=entry["directory"], capture_output=True, text=True, check=True)
    return shlex.split(made.stdout.replace("\\\n", " "))[1:]


def fingerprint(name, entry, version, root):
    """Changes when anything that could change clang-tidy's verdict does; paths do not matter, so clones share it."""
    digest = hashlib.sha256(version)
    for folder in pathlib.PurePath(name).parents:
        checks = root / folder / ".clang-tidy"
        if checks.exists():
            digest.update(checks.read_bytes())
    digest.update(entry["command"].replace(str(root), "").encode())
    for path in dependencies(entry):
        digest.update(hashlib.sha256(pathlib.Path(entry["directory"], path).read_bytes()).digest())
    return digest.hexdigest()


def check(name, entry, arguments, version):
    started = time.monotonic()
    try:
        passed = arguments.cache / fingerprint(name, entry, version, arguments.root)
    except (subprocess.CalledProcessError, OSError):
        passed = None  # does not compile: clang-tidy says why
    if passed is not None and passed.exists():
        passed.touch()  # so that old ones can be told from used ones
        return name, 0, "", None
    command = [arguments.clang_tidy, "-quiet", "-p", str(arguments.build), str(arguments.root / name)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0 and passed is not None:
        passed.touch()
    # stderr counts suppressed warnings of system headers; it matters only where something went wrong.
    output = done.stdout + (done.stderr if done.returncode != 0 else "")
    return name, done.returncode, output, time.monotonic() - started


def main():
    arguments = parse_arguments()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    commands = own_commands(arguments.root, arguments.build, set(arguments.files))
    version = subprocess.run([arguments.clang_tidy, "--version"], capture_output=True, check=True).stdout
    failed, remembered = [], 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        pending = [pool.submit(check, name, entry, arguments, version) for name, entry in sorted(commands.items())]
        for number, future in enumerate(as_completed(pending), start=1):
            name, status, output, seconds = future.result()
            remembered += seconds is None
            if seconds is not None:
                print(f"[{number}/{len(commands)}] {name} ({seconds:.0f} s)", flush=True)
            if status != 0:
                failed.append(name)
                print(output, flush=True)
    print(f"tidy: {len(commands)} files, {remembered} unchanged since they passed, {len(failed)} with findings")
    for name in sorted(failed):
        print(f"  {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
