"""What a teacher needs of the book: handouts, an nbgrader course, grading, the view of a class."""
