"""A ``goals`` whose first scan of part 2 is stopped after some chunks; later ones are as ever."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

# Calls of Writer.write are chunks. At the third the process tells and waits for the signal, its own or another's.
_PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from goalscli.store import Writer
reached, own = Path(sys.argv[1]), sys.argv[2] == "own"
write, calls = Writer.write, 0
def stopping(*args, **options):
    global calls
    calls += 1
    if calls == 3:
        reached.touch()
        if own:
            os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    return write(*args, **options)
Writer.write = stopping
from goalscli.cli import main
sys.argv = ["goals", *sys.argv[3:]]
main()
"""


def program(reached: Path, *, by_itself: bool, chunk_size: int) -> str:
    """Text of the program; it makes the file ``reached``."""
    python = shlex.quote(sys.executable)
    return f"""#!/bin/bash
more=()
if [ "$1" = scan ]; then more=(--chunk-size {chunk_size}); fi
case " $* " in
    *" --part 2/"*)
        if [ "$1" = scan ] && [ ! -e {reached} ]; then
            exec {python} -c {shlex.quote(_PROGRAM)} {reached} {"own" if by_itself else "other"} "$@" "${{more[@]}}"
        fi ;;
esac
exec {python} -m goalscli "$@" "${{more[@]}}"
"""
