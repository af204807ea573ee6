"""The memory that an answer needs, measured so that it depends on the answer alone."""

import gc
import tracemalloc

import numpy

from attention_book.exercises.limits import ENGINE_FILES

ENGINE_FILES.add(__file__)
_BUFFER = 256  # numbers in each of NumPy's buffers, while memory is measured


class PeakMemory:
    """The most memory in use at one time, above what was in use when this was entered.

    What one run leaves counts in the next, so that a table which is kept for use again is seen in
    each. Two things would make a peak depend on what ran before, and on more than the answer's own
    arrays: objects that Python keeps at hand for use again, which a full collection gives back, and
    NumPy's buffers for casting, which are made small.
    """

    def __enter__(self):
        self.own = not tracemalloc.is_tracing()
        self.buffer = numpy.setbufsize(_BUFFER)
        _give_back()
        if self.own:
            tracemalloc.start()
        self.before = tracemalloc.get_traced_memory()[0]
        return self

    def begin(self):
        """Forget the peak so far."""
        _give_back()
        tracemalloc.reset_peak()

    def end(self):
        """Return the bytes."""
        return tracemalloc.get_traced_memory()[1] - self.before

    def __exit__(self, *_):
        if self.own:
            tracemalloc.stop()
        numpy.setbufsize(self.buffer)


def _give_back():
    """Let Python give back what it keeps for use again, without a look at all that lives."""
    gc.freeze()
    gc.collect()
    gc.unfreeze()
