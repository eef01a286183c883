#!/usr/bin/env python3
"""What `roofline history export --format openmetrics` writes, read by a real Prometheus.

promtool judges the text, a Prometheus server scrapes it over HTTP in the OpenMetrics format and answers queries, and
the dashboard asks for nothing that is not exported. Exit status 77 (skipped) where Prometheus is not installed.
"""

import argparse
import http.server
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request


def fail(text):
    sys.exit(f"prometheus_test: {text}")


def run(*command, text=None):
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} failed: {done.stdout}")
    return done.stdout


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def serve(text):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            # The strict reader: it refuses what is not OpenMetrics.
            self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def ask(port, path, **query):
    url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.load(answer)["data"]


def wait_for_scrape(port):
    for _ in range(150):
        try:
            targets = ask(port, "targets")["activeTargets"]
            if targets and targets[0]["health"] != "unknown":
                return targets[0]
        except OSError:
            pass
        time.sleep(0.2)
    fail("Prometheus did not scrape within 30 s")


def scrape(text, folder, prometheus):
    target, port = serve(text), free_port()
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s}\n"
        f"scrape_configs: [{{job_name: roofline, static_configs: [{{targets: ['127.0.0.1:{target}']}}]}}]\n")
    server = subprocess.Popen([prometheus, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                               f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        seen = wait_for_scrape(port)
        if seen["health"] != "up":
            fail(f"the scrape failed: {seen['lastError']}")
        found = ask(port, "query", query='roofline_kernel_fraction_of_roof_ratio{operator="",branch="main"}')["result"]
        values = {r["metric"]["kernel"]: float(r["value"][1]) for r in found}
        if abs(values.get("lm_head", 0) - 0.736) > 0.001:
            fail(f"lm_head is not at 73.6 % of its roof: {values}")
        return len(ask(port, "series", **{"match[]": '{job="roofline",__name__=~"roofline_.*"}'}))
    finally:
        server.terminate()
        server.wait(20)


def check_dashboard(text, path):
    exported = set(re.findall(r"^# TYPE (\S+) ", text, re.M))
    dashboard = json.loads(path.read_text())
    expressions = [t["expr"] for p in dashboard["panels"] for t in p.get("targets", [])]
    expressions += [v["query"]["query"] for v in dashboard["templating"]["list"] if v["type"] == "query"]
    asked = {m for e in expressions for m in re.findall(r"\broofline_[a-z_]+", e)}
    if not asked or asked - exported:
        fail(f"the dashboard asks for what is not exported: {sorted(asked - exported)}")
    return len(asked)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        store, out = f"--store={folder}/history.db", folder / "roofline.prom"
        run(options.program, "history", "record", options.root / "examples/llama3-8b-decode-h100.md", "--machine", "h100",
            "--label", "branch=main", store)
        run(options.program, "history", "export", "-o", out, "--metric-label", "branch", store)
        text = out.read_text()
        asked = check_dashboard(text, options.root / "examples/grafana/roofline.json")
        promtool, prometheus = shutil.which("promtool"), shutil.which("prometheus")
        if not promtool or not prometheus:
            print("Prometheus is not installed (Debian: apt-get install prometheus)")
            return 77
        complaints = run(promtool, "check", "metrics", text=text)
        if complaints.strip():
            fail(f"promtool: {complaints}")
        series = scrape(text, folder, prometheus)
        print(f"promtool has nothing to say; {series} series scraped; the dashboard asks for {asked} metrics")
    return 0


if __name__ == "__main__":
    sys.exit(main())
