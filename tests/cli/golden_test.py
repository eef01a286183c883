#!/usr/bin/env python3
"""The transcript runner itself, against a stand-in for the program."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).with_name("golden.py")
STAND_IN = r"""#!/bin/bash
case $1 in
  both) echo out; echo "" ; echo "exit 3"; echo problem >&2; exit 3 ;;
  bare) printf 'no end' ;;
  where) echo "$SCRATCH"; pwd; echo "${NO_COLOR-unset}" ;;
  cat) cat ;;
  good) echo '{"schema": "roofline/report/1"}' ;;
  bad) echo '{"schema": "roofline/report/1", "extra": 0}' ;;
esac
"""


class Golden(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="golden test ")
        self.root = pathlib.Path(self.folder.name)
        self.program = self.root / "roofline"
        self.program.write_text(STAND_IN)
        self.program.chmod(0o755)
        self.transcript = self.root / "a.txt"
        schema = self.root / "schema" / "report-1.json"
        schema.parent.mkdir()
        schema.write_text('{"type": "object", "properties": {"schema": {}}, "additionalProperties": false}')

    def tearDown(self):
        self.folder.cleanup()

    def run_on(self, text, *options):
        self.transcript.write_text(text)
        return subprocess.run([sys.executable, RUNNER, "--program", self.program, "--root", self.root, *options,
                               self.transcript], capture_output=True, text=True)

    def updated(self, text):
        self.assertEqual(self.run_on(text, "--update").returncode, 0)
        return self.transcript.read_text()

    def test_update_records_output_errors_and_status(self):
        self.assertEqual(self.updated("# kept\n\n$ roofline both\n"),
                         "# kept\n\n$ roofline both\nout\n\n\\exit 3\n2| problem\nexit 3\n")

    def test_what_was_recorded_passes(self):
        for command in ("both", "bare", "where"):
            text = self.updated(f"$ roofline {command}\n\n$ roofline both\n")
            self.assertEqual(self.run_on(text).returncode, 0, text)

    def test_every_difference_fails(self):
        text = self.updated("$ roofline both\n\n$ roofline bare\n")
        for old, new in (("out", "other"), ("problem", "other"), ("\nexit 3", "\nexit 2"), ("out\n\n", "out\n"),
                         ("\\ no newline at the end\n", "")):
            done = self.run_on(text.replace(old, new))
            self.assertEqual(done.returncode, 1, old)
            self.assertIn("+++ now", done.stdout)
            self.assertIn("--update", done.stdout)

    def test_commands_see_neither_terminal_nor_the_persons_settings(self):
        text = self.updated("$ roofline where\n\n$ roofline cat\n")
        self.assertIn("$ roofline where\n$SCRATCH\n", text)
        self.assertIn("\nunset\n", text)
        self.assertTrue(text.endswith("$ roofline cat\n"))

    def test_a_report_that_breaks_the_schema_never_passes(self):
        self.assertIn('"roofline/report/1"', self.updated("$ roofline good\n"))
        done = self.run_on("$ roofline bad\n", "--update")
        self.assertEqual(done.returncode, 1)
        self.assertIn("breaks report-1.json", done.stdout)

    def test_a_transcript_without_commands_is_refused(self):
        self.assertNotEqual(self.run_on("nothing here\n").returncode, 0)


if __name__ == "__main__":
    unittest.main()
