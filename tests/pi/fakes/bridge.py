"""A bridge without a memory: answers by a plan, tells the test what it hears, and can be unwell.

    python bridge.py PLAN.json PORT

The plan is read again for every message, so a test can change it while the process runs:

    results   {method: result}            instead of the default answer
    errors    {method: error}             an error answer
    raw       {method: line}              this line instead of an answer
    silent    [method, …]                 no answer
    dies      [method, …]                 ends at once with status 3
    then      {method: [message, …]}      sent after the answer: asks (with an id) and tells
    lingers   true                        `session/end` waits for the answers to the asks, as long as it may
    deaf      true                        does not end at the end of stdin
    stubborn  true                        does not end on SIGTERM either
"""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import sys
import threading
import time
from typing import Any

Message = dict[str, Any]
COMMANDS = ("status", "show", "branches", "fork ", "use main", "use spike", "undo")


def answer(method: str, params: Message) -> Message:
    """What a healthy bridge with nothing in its memory would say."""
    branch = params.get("branch") or "main"
    status = f"memory: {branch}"
    match method:
        case "hello":
            return {"protocol": 1, "version": "0", "project": {"root": params["cwd"], "key": "k"}}
        case "session/start" | "turn/start":
            return {"branch": branch, "inject": {}, "status": status, "notices": []}
        case "command":
            verb, _, name = str(params["line"]).partition(" ")
            chosen = name if verb in {"use", "fork"} else branch
            text = f"{verb}: branch {chosen}"
            return {"text": text, "level": "info", "branch": chosen, "status": f"memory: {chosen}"}
        case "complete":
            fitting = [c for c in COMMANDS if c.startswith(str(params["prefix"]))]
            return {"items": [{"value": c, "label": c.strip(), "description": "a command"} for c in fitting]}
        case "tool":
            return {"text": json.dumps(params["arguments"]), "error": False, "details": {"branch": branch}}
        case _:
            return {}


class FakeBridge:
    """One process: a reader thread for stdin, one loop, one socket to the test."""

    def __init__(self, plan_file: str, port: int) -> None:
        self.plan_file = plan_file
        self.test = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.lines: queue.Queue[Message | None] = queue.Queue()
        self.pending: set[object] = set()
        self.report({"started": os.getpid(), "argv": sys.argv, "env": dict(os.environ)})
        threading.Thread(target=self.read, daemon=True).start()

    def report(self, what: Message) -> None:
        self.test.sendall(json.dumps(what).encode() + b"\n")

    def read(self) -> None:
        for line in sys.stdin.buffer:
            self.lines.put({**json.loads(line), "bytes": len(line), "ascii": line.isascii()})
        self.lines.put(None)

    def send(self, text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def plan(self) -> Message:
        with open(self.plan_file, encoding="utf-8") as file:
            plan: Message = json.load(file)
            return plan

    def run(self) -> None:
        if self.plan().get("stubborn"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while (message := self.lines.get()) is not None:
            self.take(message)
        while self.plan().get("deaf"):
            time.sleep(1)

    def take(self, message: Message) -> None:
        self.report({"heard": message})
        if "method" not in message:
            self.pending.discard(message["id"])
            return
        plan, method = self.plan(), message["method"]
        if method in plan.get("dies", ()):
            sys.stderr.write("the fake was told to die\n")
            sys.stderr.flush()
            os._exit(3)
        if method in plan.get("silent", ()):
            return
        if method == "session/end" and plan.get("lingers"):
            self.linger(message["params"]["wait"])
        self.reply(plan, message)
        for further in plan.get("then", {}).get(method, ()):
            self.pending.update([further["id"]] if "id" in further else [])
            self.send(json.dumps({"jsonrpc": "2.0", **further}))

    def reply(self, plan: Message, message: Message) -> None:
        method = message["method"]
        if method in plan.get("raw", {}):
            self.send(str(plan["raw"][method]))
        elif method in plan.get("errors", {}):
            self.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": plan["errors"][method]}))
        else:
            result = {**answer(method, message["params"]), **plan.get("results", {}).get(method, {})}
            self.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))

    def linger(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while self.pending and (left := end - time.monotonic()) > 0:
            try:
                message = self.lines.get(timeout=left)
            except queue.Empty:
                return
            if message is None:
                self.lines.put(None)
                return
            self.take(message)


if __name__ == "__main__":
    FakeBridge(sys.argv[1], int(sys.argv[2])).run()
