"""Reads a rendered page from the browser: the number of its words, and its HTML.

The scripts of the page cannot interfere. Our code runs in an isolated world, where the prototypes
are the original ones, and it uses no name that an element of the page could claim.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from playwright.async_api import CDPSession, Error

from fetchers.reading.visibility.unseen import MARK
from fetchers.web.marks import MARKING

_FRAMES = 50  # frames of a page that are read
_LEVELS = 5  # levels of frames inside frames
_WORLD = "reader"
_Tree = dict[str, Any]  # a frame and its child frames, as the browser gives them

# Every property is read with its original getter: fields of a form hide its own properties.
_GETTERS = """
const getter = (type, name) => {
  const get = Object.getOwnPropertyDescriptor(type.prototype, name).get;
  return node => get.call(node);
};
const nodeType = getter(Node, 'nodeType'), childNodes = getter(Node, 'childNodes');
const localName = getter(Element, 'localName'), shadowRoot = getter(Element, 'shadowRoot');
const children = getter(DocumentFragment, 'children');
const innerText = getter(HTMLElement, 'innerText');
const all = node => node instanceof Element
  ? Element.prototype.querySelectorAll.call(node, '*')
  : DocumentFragment.prototype.querySelectorAll.call(node, '*');
const root = getter(Document, 'documentElement')(document);
"""

_WORDS = f"""() => {{
  {_GETTERS}
  if (!root) return 0;
  // A script without spaces has about one word in two letters.
  const DENSE = /[\\u0e00-\\u0e7f\\u3040-\\u30ff\\u3400-\\u9fff]{{2}}/g;
  let words = 0;
  const todo = [root];
  while (todo.length && words < 10000) {{
    const node = todo.pop();
    if (node instanceof HTMLElement) {{
      const text = innerText(node);
      words += (text.match(/\\S+/g) || []).length + (text.match(DENSE) || []).length;
    }}
    for (const element of all(node)) {{
      const shadow = shadowRoot(element);
      if (shadow) todo.push(...children(shadow));
    }}
  }}
  return words;
}}"""

# The document as HTML, as it is laid out: the content of a shadow root is written inside its host,
# and elements that the browser does not show have a mark. With `isFrame` only the body is written,
# as a part of another document. `frames` are pairs of a frame's element and the HTML of the frame,
# which is written after the element. A style sheet that a script has filled is written out.
_HTML = f"""(limit, isFrame, ...frames) => {{
  {_GETTERS}
  {MARKING}
  const attributes = Element.prototype.getAttributeNames;
  const attribute = Element.prototype.getAttribute;
  const assigned = HTMLSlotElement.prototype.assignedNodes;
  const data = getter(CharacterData, 'data');
  const shown = new Map();
  for (let i = 0; i < frames.length; i += 2) shown.set(frames[i], frames[i + 1]);
  const isShown = element => {{
    const box = Element.prototype.getBoundingClientRect.call(element);
    return box.width > 2 && box.height > 2 && Element.prototype.checkVisibility.call(element);
  }};
  const added = element => {{
    const sheet = element instanceof HTMLStyleElement && getter(HTMLStyleElement, 'sheet')(element);
    if (!sheet || [...childNodes(element)].some(child => /\\S/.test(data(child)))) return '';
    return [...sheet.cssRules].map(rule => rule.cssText).join('\\n');
  }};
  const escapes = {{'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'}};
  const escape = text => text.replace(/[&<>"]/g, found => escapes[found]);
  const EMPTY = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta',
    'source', 'track', 'wbr']);
  const SKIPPED = new Set(['noscript', 'template', 'noframes', 'noembed']);
  const RENAMED = {{frameset: 'body', frame: 'iframe', plaintext: 'pre', xmp: 'pre'}};
  const NAME = /^[a-z][a-z0-9:._-]*$/i;

  if (isFrame) RENAMED.body = RENAMED.frameset = 'div';
  const start = isFrame ? getter(Document, 'body')(document) : root;
  const todo = start ? [start] : [];
  const parts = isFrame ? [] : ['<!DOCTYPE html>'];
  let size = 0;
  const write = text => {{ size += text.length; parts.push(text); }};
  while (todo.length && size < limit) {{
    const node = todo.pop();
    if (typeof node === 'string') {{ write(node); continue; }}
    if (nodeType(node) === 3) {{ write(escape(data(node))); continue; }}
    if (nodeType(node) !== 1) continue;
    const own = localName(node);
    if (SKIPPED.has(own) || !NAME.test(own)) continue;
    const name = Object.hasOwn(RENAMED, own) ? RENAMED[own] : own;
    write('<' + name);
    for (const key of attributes.call(node)) {{
      if (!NAME.test(key) || key === 'srcdoc' || key === '{MARK}') continue;
      const value = attribute.call(node, key);
      if (value.length < 4000) write(` ${{key}}="${{escape(value)}}"`);
    }}
    const way = mark(node);
    if (way) write(` {MARK}="${{way}}"`);
    write('>');
    if (EMPTY.has(own)) continue;
    todo.push(`</${{name}}>`);
    if (own === 'script' || own === 'style') {{
      for (const child of childNodes(node))
        if (nodeType(child) === 3) write(data(child).replace(/<(?=[/!])/g, '< '));
      if (own === 'style') write(added(node).replace(/<(?=[/!])/g, '< '));
      continue;
    }}
    if (name === 'iframe') {{
      if (shown.has(node) && isShown(node)) todo.splice(-1, 0, shown.get(node));
      continue;
    }}
    let inner = childNodes(shadowRoot(node) || node);
    if (own === 'slot') {{
      const given = assigned.call(node);
      if (given.length) inner = given;
    }}
    for (let i = inner.length - 1; i >= 0; i--) todo.push(inner[i]);
  }}
  return parts.join('').slice(0, limit).toWellFormed();
}}"""


class Rendered:
    """Reads the page of a session, frame by frame.

    Methods raise playwright's Error if the page navigates in the meantime.
    """

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    async def words(self, enough: int) -> int:
        """Estimate the number of visible words. Counting stops at `enough`."""
        tree = await self._tree()
        words = 0
        for frame in islice(_flat(tree), _FRAMES):
            words += await self._call(await self._world(frame), _WORDS)
            if words >= enough:
                break
        return words

    async def html(self, limit: int) -> str:
        """Return the HTML of the page, cut off at `limit` characters."""
        return await self._html(await self._tree(), limit, levels=_LEVELS)

    async def _html(self, tree: _Tree, limit: int, levels: int) -> str:
        """Return the HTML of a frame. The frames inside it are read first."""
        context = await self._world(tree)
        frames: list[Any] = []
        for child in tree.get("childFrames", ())[: _FRAMES if levels else 0]:
            with suppress(Error):  # the frame has gone, or runs in another process
                owner = await self._session.send(
                    "DOM.getFrameOwner", {"frameId": child["frame"]["id"]}
                )
                element = await self._session.send(
                    "DOM.resolveNode",
                    {"backendNodeId": owner["backendNodeId"], "executionContextId": context},
                )
                inner = await self._html(child, limit, levels - 1)
                frames += ({"objectId": element["object"]["objectId"]}, {"value": inner})
        is_frame = levels < _LEVELS
        return str(await self._call(context, _HTML, {"value": limit}, {"value": is_frame}, *frames))

    async def _tree(self) -> _Tree:
        tree: _Tree = (await self._session.send("Page.getFrameTree"))["frameTree"]
        return tree

    async def _world(self, tree: _Tree) -> int:
        """Create our isolated world in a frame. Returns the id of its context."""
        world = {"frameId": tree["frame"]["id"], "worldName": _WORLD}
        answer = await self._session.send("Page.createIsolatedWorld", world)
        return int(answer["executionContextId"])

    async def _call(self, context: int, function: str, *arguments: Any) -> Any:
        answer = await self._session.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "executionContextId": context,
                "arguments": arguments,
                "returnByValue": True,
            },
        )
        if "exceptionDetails" in answer:
            raise Error(f"cannot be read: {answer['exceptionDetails']['text']}")
        return answer["result"]["value"]


def _flat(tree: _Tree) -> Iterator[_Tree]:
    yield tree
    for child in tree.get("childFrames", ()):
        yield from _flat(child)
