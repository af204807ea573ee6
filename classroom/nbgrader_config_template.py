"""Settings of this nbgrader course. Written by `make course`; written anew by it, too."""

import sys

sys.path.insert(0, "<BOOK>")

from classroom import nbgrader_parts

c = get_config()  # noqa: F821  (nbgrader puts it here)
c.CourseDirectory.root = "<COURSE>"
c.CourseDirectory.course_id = "attention"
nbgrader_parts.settle(c, "<COURSE>")
