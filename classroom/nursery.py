"""The process that starts confined ones: it has the libraries loaded, and no secret in it.

It is started once, and forks for each notebook to be graded: the fork confines itself, then runs
what it is told over its own connection. The nursery itself never runs a student's code.
"""

import contextlib
import gc
import os
import signal
import socket
import sys

from classroom import isolation, stand_ins, wire

stand_ins.bare_exercises()  # before anything that would load the catalogue

import matplotlib.pyplot  # noqa: E402, F401  (students' cells may import it, and find it loaded)

from attention_book.exercises import limits  # noqa: E402
from classroom.worker import Worker, hide_functions  # noqa: E402

limits._LIBRARIES += (os.path.dirname(__file__),)  # lines here are no learner's own
_MOST_OPEN = 100  # file descriptors of the nursery lie below


def main(number):
    """Serve the judge: start confined processes, and end them."""
    control = socket.socket(fileno=number)
    stand_ins.install()
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.dirname(__file__))]
    readable = isolation.readable_paths()
    gc.freeze()
    while True:
        try:
            message, _ = wire.receive(control)
        except EOFError:
            return
        if "end" in message:
            wire.send(control, end(message["end"]))
            continue
        _, [place], _, _ = socket.recv_fds(control, 1, 1)
        child = os.fork()
        if child == 0:
            serve_one(place, message, readable)
        os.close(place)
        wire.send(control, {"started": child})


def end(child):
    """End a confined process, if it has not ended, and say which signal ended it before."""
    done, status = os.waitpid(child, os.WNOHANG)
    if not done:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return {"alive": True, "signal": 0}
    return {"alive": False, "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0}


def serve_one(place, message, readable):
    """Be the confined process; never return."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        held = os.dup(place) if place <= 3 else place
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.dup2(held, 3)
        os.closerange(4, _MOST_OPEN)
        os.chdir("/")
        hide_functions(message["hidden"])
        isolation.confine(readable)
        connection = socket.socket(fileno=3)
        wire.send(connection, {"ready": True})
        Worker(connection).serve()
    except BaseException as error:
        with contextlib.suppress(OSError):
            wire.send(connection, {"failed": f"{type(error).__name__}: {error}"[:300]})
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
