# SPDX-License-Identifier: MIT
"""Runs in a guest: starts commands for the host and sends their output back.

Messages are JSON objects, one a line, over the virtio-serial port. The host sends, with an `id`
that it chooses: {"hello"}, {"id", "run": [word…], "env", "cwd", "stdin"}, {"id", "read"}, {"id",
"signal"}, {"power": "off"}. The agent sends {"ready"} in answer to hello; for each command {"id",
"out"} and {"id", "err"} in base64, and at the end {"id", "exit"} (negative: a signal).

With a device and a folder as arguments it uses that device, sends {"ready"} without being asked,
and receives names of files: it reads each message from the file of that name in the folder.

Each imported module makes the guest boot later, under TCG by up to a tenth of a second.
"""

import binascii
import io
import json
import os
import subprocess
import sys
import threading
import time

PORT = "org.gidway.agent"
PORTS = "/sys/class/virtio-ports"


def open_port() -> io.FileIO:
    if len(sys.argv) > 1:
        return open(sys.argv[1], "r+b", buffering=0)
    for _ in range(100):
        for port in os.listdir(PORTS):
            with open(f"{PORTS}/{port}/name") as name:
                if name.read().strip() == PORT:
                    return open(f"/dev/{port}", "r+b", buffering=0)
        time.sleep(0.05)
    raise SystemExit("agent: the host gave this guest no port to talk through")


def fetch(line: bytes) -> bytes:
    """The message in this line, or in the file that it names."""
    if len(sys.argv) < 3:
        return line
    path = f"{sys.argv[2]}/{line.decode()}"
    with open(path, "rb") as file:
        message = file.read()
    os.unlink(path)
    return message


class Agent:
    def __init__(self, port: io.FileIO) -> None:
        self.port = port
        self.lock = threading.Lock()
        self.running: dict[int, subprocess.Popen[bytes]] = {}

    def send(self, **message: object) -> None:
        line = json.dumps(message).encode() + b"\n"
        with self.lock:
            while line:
                line = line[self.port.write(line) :]

    def send_text(self, number: int, kind: str, data: bytes) -> None:
        self.send(id=number, **{kind: binascii.b2a_base64(data, newline=False).decode()})

    def serve(self) -> None:
        if len(sys.argv) > 1:  # the device drops data while nobody listens, such as a hello
            self.send(ready=os.uname().release)
        parts: list[bytes] = []  # of one line: stdin can be long, and arrives in pages
        while True:
            data = self.port.read(65536)
            if not data:
                time.sleep(0.05)  # the host has not opened its end yet, or has closed it
                continue
            *lines, rest = data.split(b"\n")
            if lines:
                lines[0] = b"".join([*parts, lines[0]])
                parts.clear()
            parts.append(rest)
            for line in lines:
                try:
                    message = json.loads(fetch(line))
                except (OSError, ValueError):
                    continue  # the host closed its end in the middle of the line
                if "power" in message:
                    return
                if "hello" in message:
                    self.send(ready=os.uname().release)
                    continue
                self.handle(message)

    def handle(self, message: dict) -> None:
        if "run" in message:
            self.start(message)
        elif "read" in message:
            reader = (message["id"], message["read"])
            threading.Thread(target=self.read, args=reader, daemon=True).start()
        elif process := self.running.get(message["id"]):
            try:
                os.killpg(process.pid, message["signal"])
            except ProcessLookupError:
                pass  # it has just ended

    def read(self, number: int, path: str) -> None:
        """Sends the content of a file, without starting a program."""
        try:
            with open(path, "rb") as file:
                while data := file.read(65536):
                    self.send_text(number, "out", data)
            code = 0
        except OSError as error:
            self.send_text(number, "err", f"{path}: {error.strerror}\n".encode())
            code = 1
        self.send(id=number, exit=code)

    def find_folder(self, number: int, wanted: str) -> str:
        """The folder in which the command runs: the guest does not see every folder of the host."""
        if os.path.isdir(wanted):
            return wanted
        folder = os.environ.get("GIDWAY_FOLDER", "/")
        folder = folder if os.path.isdir(folder) else "/"
        why = f"this guest does not see the folder {wanted}: the command runs in {folder}\n"
        self.send_text(number, "err", why.encode())
        return folder

    def start(self, message: dict) -> None:
        number = message["id"]
        cwd = self.find_folder(number, message.get("cwd", "/"))
        try:
            process = subprocess.Popen(
                message["run"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=os.environ | message.get("env", {}),
                cwd=cwd,
                start_new_session=True,
            )
        except OSError as error:
            self.send_text(number, "err", f"{message['run'][0]}: {error.strerror}\n".encode())
            self.send(id=number, exit=127)
            return
        self.running[number] = process
        stdin = binascii.a2b_base64(message.get("stdin", ""))
        threading.Thread(target=self.finish, args=(number, process, stdin), daemon=True).start()

    def finish(self, number: int, process: subprocess.Popen[bytes], stdin: bytes) -> None:
        """Writes the command's input, sends its output, and at the end its exit code."""
        copies = [
            threading.Thread(target=self.copy, args=(number, kind, stream), daemon=True)
            for kind, stream in (("out", process.stdout), ("err", process.stderr))
        ]
        for copy in copies:
            copy.start()
        try:
            process.stdin.write(stdin)
            process.stdin.close()
        except BrokenPipeError:
            pass  # a command need not read its input
        code = process.wait()
        for copy in copies:
            copy.join(timeout=5)  # a child of the command may keep the pipe open
        del self.running[number]
        self.send(id=number, exit=code)

    def copy(self, number: int, kind: str, stream: io.BufferedReader) -> None:
        """Collects output for a moment: each message costs an emulated guest 10 ms."""
        while data := os.read(stream.fileno(), 65536):
            self.send_text(number, kind, data)
            time.sleep(0.05)


if __name__ == "__main__":
    Agent(open_port()).serve()
