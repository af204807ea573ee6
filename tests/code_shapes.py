"""The shape of a function: its code with local names numbered, so that renaming hides nothing."""

import ast

FEWEST_NODES = 25  # shorter code is alike by chance: `return a @ b`


class Numbered(ast.NodeTransformer):
    """Replace parameters and local variables by numbers in the order of their first use."""

    def __init__(self, local):
        self.local, self.seen = local, {}

    def number(self, name):
        return f"v{self.seen.setdefault(name, len(self.seen))}" if name in self.local else name

    def visit_Name(self, node):
        return ast.copy_location(ast.Name(self.number(node.id), node.ctx), node)

    def visit_arg(self, node):
        return ast.arg(self.number(node.arg))


def functions(syntax):
    """Return every function defined in some code, at any depth."""
    return [node for node in ast.walk(syntax) if isinstance(node, ast.FunctionDef)]


def shape(function):
    """Return what two functions with the same body share; None for a very short body."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if sum(1 for statement in body for _ in ast.walk(statement)) < FEWEST_NODES:
        return None
    arguments = function.args
    local = {node.arg for node in ast.walk(arguments) if isinstance(node, ast.arg)}
    local |= {node.id for statement in body for node in ast.walk(statement)
              if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    numbered = Numbered(local)
    copy = ast.parse(ast.unparse(ast.Module(list(body), [])))
    return "\n".join(ast.dump(numbered.visit(statement)) for statement in copy.body)
