"""Pack the exercises' right and wrong answers in what students are given.

The checks compare with them, so they cannot be left out: ``check`` runs where the student works.
Packed, they are in no text that a student opens, searches or lists; who unpacks them finds them.
"""

import base64
import textwrap
import zlib

_STUB = '''"""Part of the exercises, packed so that nobody reads answers by accident."""
import base64
import linecache
import zlib

_TEXT = zlib.decompress(base64.b85decode("".join("""
{packed}
""".split()))).decode("utf-8")
linecache.cache[__file__] = (len(_TEXT), None, _TEXT.splitlines(keepends=True), __file__)
exec(compile(_TEXT, __file__, "exec"))
'''


def pack(package):
    """Pack the modules of the exercises in a copy of the package; return how many there are."""
    paths = sorted(path for path in (package / "exercises").glob("*.py")
                   if path.name != "__init__.py")
    for path in paths:
        packed = base64.b85encode(zlib.compress(path.read_bytes(), 9)).decode()
        path.write_text(_STUB.format(packed="\n".join(textwrap.wrap(packed, 99))),
                        encoding="utf-8")
    return len(paths)
