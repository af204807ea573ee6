"""What the rules read in a notebook."""

import ast
import re

from code_shapes import functions


def source(cell):
    return "".join(cell["source"])


def tags(cell):
    return set(cell["metadata"].get("tags", []))


def cells(notebook, kind="code", tag=None):
    return [cell for cell in notebook["cells"]
            if cell["cell_type"] == kind and (tag is None or tag in tags(cell))]


def markdown(notebook):
    """Return all prose, without code in it."""
    text = "\n\n".join(source(cell) for cell in cells(notebook, "markdown"))
    return re.sub(r"^```.*?^```|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)


def outputs(notebook, kind=None):
    """Give each stored output of a kind, with its cell."""
    for cell in cells(notebook):
        for output in cell["outputs"]:
            if kind is None or output["output_type"] == kind:
                yield cell, output


def data(output):
    """Return an output's forms by their media type, texts joined."""
    if output["output_type"] == "stream":
        return {"text/plain": "".join(output["text"])}
    return {media: "".join(content) if isinstance(content, list) else content
            for media, content in output.get("data", {}).items()}


def tree(cell):
    """Return a cell's syntax tree; magics are not Python and are a fault of their own."""
    return ast.parse(source(cell))


def where(cell):
    first = source(cell).strip().splitlines() or ["(empty)"]
    return f"cell {cell.get('id', '?')} ({first[0][:50]})"


def headings(notebook):
    return re.findall(r"^(#+) +(.+?) *$", markdown(notebook), re.MULTILINE)


def section(notebook, title):
    """Return what stands between a heading of the second level and the next."""
    text = "\n\n".join(source(cell) for cell in cells(notebook, "markdown"))
    return re.split(r"^## ", text.partition(f"\n## {title}\n")[2], maxsplit=1,
                    flags=re.MULTILINE)[0]


def imports(syntax):
    """Return the modules that some code imports."""
    names = []
    for node in ast.walk(syntax):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return names


def called(node):
    """Return the last part of the name that a call calls."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def bound(syntax):
    """Return the names that some code assigns, defines or imports, at any depth."""
    names = {node.id for node in ast.walk(syntax)
             if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {(alias.asname or alias.name).partition(".")[0] for node in ast.walk(syntax)
              if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}
    return names | {function.name for function in functions(syntax)}
