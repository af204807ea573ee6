"""The check of the built site finds mathematics that did not become a formula."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import check_site

PAGE = """<article><p>The root <span class="math notranslate">\\(\\sqrt{d}\\)</span> is shown.</p>
<div class="math notranslate">\\[\\text{a}\\left(\\frac{Q}{2}\\right) \\{ x \\}\\]</div>
<pre><span>print("$x$ \\n")</span></pre> and <code class="docutils"><span>\\frac</span></code>.
</article><p>$not in the article$</p>"""


def faults(page):
    reader = check_site.Reader()
    reader.feed(page)
    return reader.page.faults


def test_formulas_and_code_are_no_fault():
    assert faults(PAGE) == []


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("is shown", "is $\\sqrt{d}$", "left as it was typed"),
    ("is shown", "costs $5", "left as it was typed"),
    ("is shown", "is \\(d\\)", "left as it was typed"),
    (" and <code", " and \\frac <code", "left as it was typed"),
    ("\\sqrt{d}", "\\sqrt{d", "do not match"),
    ("\\right)", ")", "do not match"),
])
def test_a_fault_is_found(old, new, fault):
    assert old in PAGE
    found = faults(PAGE.replace(old, new))
    assert len(found) == 1 and fault in found[0]
