"""Every control of every moving figure, by keyboard, by mouse and by touch."""

import json
from functools import cache
from itertools import count

import pytest
from explorable_values import EXPECTED, agrees
from watching import Watch

from attention_book.explorables import Cache, Mixing, base

MEANS = ["keyboard", "mouse", "touch"]
PAGE = ('<!doctype html><html lang="en"><head><title>Figure</title>'
        '<meta name="viewport" content="width=device-width">'
        "<style>body{{font:17px system-ui;margin:0 auto;max-width:600px}}</style></head>"
        "<body><main><h1>Figure</h1>{}</main></body></html>")
CONTROLS = '.ab-stage :is(button, input, select, [tabindex="0"]):visible'
KIND = """control => control.matches("input") ? control.type
  : control.matches("[data-handle]") ? "handle" : control.tagName.toLowerCase()"""
TRAIT = """control => control.dataset.control ?? control.dataset.handle
  ?? (control.dataset.word && "word") ?? ((control.dataset.step ?? control.dataset.token) && "step")
  ?? (control.matches("td") ? "key" : "features")"""
LAST = """controls => {
  const text = document.querySelector(".ab-state"), after = Node.DOCUMENT_POSITION_FOLLOWING;
  const below = [...document.querySelectorAll(controls)].filter(
    control => text.compareDocumentPosition(control) & after);
  return below.length ? below[0].outerHTML : "the text";
}"""
COUNTED = """async script => {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: figure } = await import(address);
  const state = JSON.parse(document.querySelector(".ab-explorable").dataset.state), heard = [];
  const model = {
    get: name => state[name], set: (name, value) => { state[name] = value; }, save_changes() {},
    on: (event, listener) => heard.push(listener),
    off: (event, listener) => heard.splice(heard.indexOf(listener), 1),
  };
  const end = figure.render({ model, el: document.createElement("div") });
  const before = heard.length;
  end();
  return [before, heard.length];
}"""


@cache
def html(kind):
    return PAGE.format(kind().page())


@pytest.fixture(scope="module", params=MEANS)
def means(request):
    return request.param


@pytest.fixture(scope="module")
def reader(browser, means):
    """Return one page for all figures, of a reader with these means, and the watch on it."""
    wide = {"viewport": {"width": 390 if means == "touch" else 1280, "height": 900}}
    context = browser.new_context(**wide, has_touch=means == "touch", reduced_motion="reduce")
    yield context.new_page(), Watch(context, "")
    context.close()


@pytest.mark.parametrize("kind", EXPECTED, ids=lambda kind: kind.__name__)
def test_every_control(reader, means, kind):
    page, watch = reader
    page.set_content(html(kind))
    page.wait_for_selector(".ab-state:not(:empty)")
    shown = page.locator(".ab-explorable")
    before = state(shown, kind)
    agrees(kind(**before), shown)
    controls = page.locator(CONTROLS)
    assert controls.count() >= 2
    for i in count():
        if i == controls.count():  # a choice may change how many there are
            break
        control = controls.nth(i)
        trait = control.evaluate(TRAIT)
        USE[means](page, control, control.evaluate(KIND))
        now = state(shown, kind)
        changed = {name for name in now if now[name] != before[name]}
        assert trait in changed and changed <= {trait, "query"}
        agrees(kind(**now), shown)
        before = now
    assert watch.complaints == []


@pytest.mark.parametrize("kind", EXPECTED, ids=lambda kind: kind.__name__)
def test_what_is_pressed_stands_above_the_text_that_changes_its_height(browser, kind):
    page = browser.new_page()
    page.set_content(html(kind))
    page.wait_for_selector(".ab-state:not(:empty)")
    last = page.evaluate(LAST, CONTROLS.replace(":visible", ""))
    assert last == "the text"
    page.close()


def state(shown, kind):
    """Return the figure's state, without the data that nobody can change."""
    fixed = {name for name, trait in kind.class_traits().items() if trait.read_only}
    values = json.loads(shown.get_attribute("data-state"))
    return {name: value for name, value in values.items() if name not in fixed}


def by_keyboard(page, control, kind):
    control.focus()
    if kind == "range":
        value = control.input_value()
        page.keyboard.press("ArrowLeft")
        if control.input_value() == value:
            page.keyboard.press("ArrowRight")
    elif kind == "select":
        last = control.evaluate("e => e.selectedIndex === e.length - 1")
        page.keyboard.press("ArrowUp" if last else "ArrowDown")
    elif kind == "td":
        page.keyboard.press("ArrowRight")
    else:
        page.keyboard.press({"checkbox": "Space", "number": "ArrowUp", "handle": "ArrowDown"}
                            .get(kind, "Enter"))


def by_mouse(page, control, kind):
    if kind == "handle":
        x, y = middle(control)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 30, y + 20, steps=2)
        page.mouse.up()
    elif kind == "td":
        neighbour(control).hover()
    else:
        press(page, control, kind, page.mouse.click)


def by_touch(page, control, kind):
    if kind == "handle":
        drag_by_touch(page, *middle(control))
    elif kind == "td":
        page.touchscreen.tap(*middle(neighbour(control)))
    else:
        press(page, control, kind, page.touchscreen.tap)


def press(page, control, kind, touch):
    """Touch a control; a list then opens outside the page, and a number is typed."""
    x, y = middle(control)
    if kind == "range":
        box = control.bounding_box()
        far = control.evaluate("e => (e.value - e.min) / (e.max - e.min) > 0.5")
        x = box["x"] + (0.1 if far else 0.9) * box["width"]
    if kind == "select":
        last = control.evaluate("e => e.selectedIndex === e.length - 1")
        control.select_option(index=0 if last else control.evaluate("e => e.selectedIndex + 1"))
        return
    touch(x, y)
    if kind == "number":
        page.keyboard.press("Control+a")
        page.keyboard.type("-1.5")
        page.keyboard.press("Tab")


def neighbour(cell):
    """Return the cell after this one in its row."""
    return cell.locator("xpath=following-sibling::td[1]")


def middle(control):
    control.scroll_into_view_if_needed()
    box = control.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag_by_touch(page, x, y):
    fingers = page.context.new_cdp_session(page)
    for kind, points in (("touchStart", [(x, y)]), ("touchMove", [(x - 15, y + 10)]),
                         ("touchMove", [(x - 30, y + 20)]), ("touchEnd", [])):
        fingers.send("Input.dispatchTouchEvent", {
            "type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})
    fingers.detach()


USE = {"keyboard": by_keyboard, "mouse": by_mouse, "touch": by_touch}


@pytest.mark.parametrize("kind", EXPECTED, ids=lambda kind: kind.__name__)
def test_in_a_notebook_nothing_listens_once_the_view_has_closed(browser, kind):
    page = browser.new_page()
    page.set_content(html(kind))
    before, after = page.evaluate(COUNTED, base.module(kind.kind))
    assert before > 0 == after
    page.close()


def test_without_scripts_the_picture_and_its_caption_show(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for kind in EXPECTED:
        page.set_content(html(kind))
        pictures = page.locator(".ab-before img.ab-light")
        assert pictures.count() > 0
        assert all(picture.is_visible() and picture.get_attribute("alt")
                   for picture in pictures.all())
        assert page.locator(".ab-caption").inner_text() == kind.caption
    context.close()


def test_in_print_the_picture_stands_for_the_figure(browser):
    page = browser.new_page()
    page.set_content(html(Mixing))
    page.wait_for_selector(".ab-stage .ab-state")
    assert not page.locator(".ab-before").is_visible()
    page.emulate_media(media="print")
    assert page.locator(".ab-before img.ab-light").first.is_visible()
    assert not page.locator(".ab-stage").is_visible()
    page.close()


def test_native_controls_follow_the_dark_theme(browser):
    page = browser.new_page()
    page.set_content(html(Cache))
    tick = page.locator('input[type="checkbox"]')
    schemes = []
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        schemes.append(tick.evaluate("e => getComputedStyle(e).colorScheme"))
    assert schemes == ["normal", "dark"]
    page.close()
