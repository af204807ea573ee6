"""What axe finds on a page: everything, and in the other theme what that can break."""

from axe_playwright_python.base import AXE_SCRIPT

FAST = {"preload": False, "resultTypes": ["violations"]}
COLOUR_RULES = ["color-contrast", "link-in-text-block"]  # what a theme can break
COLOURS = {**FAST, "runOnly": {"type": "rule", "values": COLOUR_RULES}}
OTHERS = {**FAST, "rules": {"label-content-name-mismatch": {"enabled": True},
                            **{rule: {"enabled": False} for rule in COLOUR_RULES}}}
RUN = """([include, options]) => axe.run({
    include, exclude: [["mjx-math"]]  // MathJax's drawing; the formula itself stands beside it
  }, options).then(found => found.violations.flatMap(one => one.nodes.map(
    node => `${one.id}: ${node.target} ${node.failureSummary}`)))"""
# Of texts that look alike on grounds that look alike, axe tries one: each costs it a millisecond,
# and a chapter has thousands of coloured words of code.
LOOKS = """() => {
  const own = ["color", "fontSize", "fontWeight", "textDecorationLine", "textShadow"];
  const ground = ["backgroundColor", "backgroundImage", "opacity", "filter", "mixBlendMode",
                  "position", "clip", "clipPath"];
  const grounds = new Map([[null, ""]]), looks = new Map();
  const read = (style, names) => names.map(name => style[name]).join();
  const groundOf = node => {
    if (!grounds.has(node)) {
      const here = read(getComputedStyle(node), ground);
      const above = groundOf(node.parentElement);
      grounds.set(node, above.endsWith(here) ? above : above + "|" + here);
    }
    return grounds.get(node);
  };
  const says = node => node.matches("input, select, textarea, button, [style]") ||
    [...node.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim());
  for (const node of document.body.querySelectorAll("*")) {
    if (!says(node) || !node.checkVisibility()) continue;
    const look = [node, node.parentElement].map(one => read(getComputedStyle(one), own));
    const key = [node.localName, ...look, groundOf(node)].join();
    if (!looks.has(key)) looks.set(key, node);
  }
  return [...looks.values()];
}"""


def other_faults(page):
    """Return what axe finds, colours aside."""
    return run(page, ["html"], OTHERS)


def colour_faults(page):
    """Return what axe finds in the colours as they are now, one of each look."""
    return run(page, page.evaluate_handle(LOOKS), COLOURS)


def run(page, include, options):
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(RUN, [include, options])
