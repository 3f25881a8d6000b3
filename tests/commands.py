"""lego-emit, and pytest, for tests that run many commands: each is a fork of a process that has imported every module.

A cold command takes 0.25 s of CPU, most of it imports; a fork takes 0.05. Its argv, folder, environment and open files are
the caller's. The tests of the command line itself start cold ones."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

# What stands on PATH. Without site and with C's own socket it starts in 10 ms.
CLIENT = """\
#!{python} -SEI
import _socket, os, sys
with_files = b"".join(n.to_bytes(4, sys.byteorder) for n in (0, 1, 2))
words = [os.getcwd(), str(len(sys.argv)), *sys.argv, *(f"{{k}}={{v}}" for k, v in os.environ.items())]
said = "\\0".join(words).encode(errors="surrogateescape")
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({path!r})
server.sendmsg([len(said).to_bytes(8, "little")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, with_files)])
server.sendall(said)
sys.exit(int(server.recv(8) or 1))  # nothing: it was killed
"""

# The processes that answer, for tests/cpu_times.py.
SERVERS: list[subprocess.Popen[bytes]] = []


def server(folder: Path) -> str:
    """The text of a program lego-emit, or pytest where it has that name, whose commands are forks of a process that ends with this one. folder: of its socket."""
    path = str(folder / "lego-emit.socket")
    process = subprocess.Popen(
        [sys.executable, __file__, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    SERVERS.append(process)
    assert process.stdout is not None and process.stdout.read(1) == b"."  # it listens
    return CLIENT.format(python=sys.executable, path=path)


def serve(path: str) -> None:
    """Answer until standard input ends."""
    import importlib
    import pkgutil

    for name in ("lego_emit", "lego_emit.printers", "lego_emit.targets"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # of an extra that is not installed
                    importlib.import_module(module.name)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(path)
    listening.listen(64)
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    gc.freeze()  # what is imported stays: pytest collects all garbage twice
    os.write(1, b".")
    while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
        caller, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            answer(caller)
        caller.close()


def reap() -> None:
    """Wait for the commands that have ended: their processor time is then this process's children's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def answer(caller: socket.socket) -> None:
    """Run one command in this process, and end it."""
    size, files, *_ = socket.recv_fds(caller, 8, 3)
    said = b""
    while len(said) < int.from_bytes(size, "little"):
        said += caller.recv(1 << 16)
    folder, count, *words = said.decode(errors="surrogateescape").split("\0")
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for n, file in enumerate(files):
        os.dup2(file, n)
        os.close(file)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
    sys.stderr = open(2, "w", closefd=False, errors="backslashreplace", buffering=1)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(word.split("=", 1) for word in words[int(count) :])
    sys.argv = words[: int(count)]
    more = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [str(Path(sys.argv[0]).parent), *map(os.path.abspath, filter(None, more))]
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in os.environ
    status: object = 1
    try:
        if Path(sys.argv[0]).name == "pytest":
            from pytest import console_main

            sys.exit(console_main())
        from lego_emit.cli import main

        main(prog_name="lego-emit")
        status = 0
    except SystemExit as end:
        status = end.code
        if status is not None and not isinstance(status, int):
            sys.stderr.write(f"{status}\n")
            status = 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    caller.sendall(str(status or 0).encode())
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
