"""JavaScript that marks the elements of a rendered page that the browser does not show.

A browser knows more than a parser: style sheets in other files, rules that scripts have added, and
the places of boxes. `fetchers/reading/visibility/unseen.py` reads the marks. It keeps the text that
a reader can open.
"""

MARKING = """
const style = element => {
  const computed = getComputedStyle(element);
  return name => CSSStyleDeclaration.prototype.getPropertyValue.call(computed, name);
};
const around = element => {
  const parent = getter(Node, 'parentNode')(element);
  return parent instanceof ShadowRoot ? getter(ShadowRoot, 'host')(parent) : parent;
};
const box = element => Element.prototype.getBoundingClientRect.call(element);
const matches = (element, selector) => {
  try { return Element.prototype.matches.call(element, selector); } catch { return false; }
};

// Selectors of rules that show something after a change of state, without that state.
const STATE = /:(?:hover|focus-within|focus-visible|focus|checked|target|active|open)\\b/g;
const SHOWING = /display|visibility|opacity|color|background|left|top|height|width|clip|transform/;
const openers = () => {
  const found = [];
  const read = rules => {
    for (const rule of rules) {
      if (found.length >= 1000) return;
      if (rule instanceof CSSStyleRule) {
        if (rule.selectorText.search(STATE) >= 0 && SHOWING.test(rule.style.cssText))
          found.push(rule.selectorText.replace(STATE, ''));
      } else if (rule.cssRules) read(rule.cssRules);
    }
  };
  for (const sheet of getter(Document, 'styleSheets')(document)) {
    try { read(sheet.cssRules); } catch {}  // of another site
  }
  return found;
};
let known = null;
const canChange = element => {
  known = known || openers();
  return known.some(selector => matches(element, selector));
};

const channels = value => {
  const found = /^rgba?\\((\\d+), (\\d+), (\\d+)(?:, ([\\d.]+))?\\)$/.exec(value);
  return found && [+found[1], +found[2], +found[3], found[4] === undefined ? 1 : +found[4]];
};
const over = (top, below) =>
  top.slice(0, 3).map((part, i) => part * top[3] + below[i] * (1 - top[3]));
const isPainted = element => ['::before', '::after'].some(pseudo => {
  const computed = getComputedStyle(element, pseudo);
  return computed.content !== 'none' && computed.content !== 'normal'
    && (computed.backgroundImage !== 'none' || computed.backgroundColor !== 'rgba(0, 0, 0, 0)');
});
const PICTURES = 'img, video, picture, svg, canvas, iframe, object, embed';

// The colour behind the text of an element, or null if it cannot be known.
const ground = element => {
  const layers = [];
  let distance = 0;
  for (let at = element; at instanceof Element; at = around(at), distance++) {
    const get = style(at);
    if (get('background-image') !== 'none' || isPainted(at)) return null;
    const colour = channels(get('background-color'));
    if (!colour) return null;
    if (colour[3] > 0) layers.push(colour);
    if (colour[3] === 1) break;
    if (['absolute', 'fixed', 'sticky'].includes(get('position'))) return null;
    if (distance < 6 && at !== root && localName(at) !== 'body'
        && Element.prototype.querySelector.call(at, PICTURES)) return null;
  }
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
};
const isUnreadable = (element, get) => {
  if (get('text-shadow') !== 'none' || get('background-clip') === 'text'
      || parseFloat(get('-webkit-text-stroke-width')) > 0) return false;
  const colour = channels(get('-webkit-text-fill-color')) || channels(get('color'));
  if (!colour) return false;
  if (colour[3] === 0) return true;
  const below = ground(element);
  return below !== null && over(colour, below).every((part, i) => Math.abs(part - below[i]) <= 16);
};

const isHidden = get => ['hidden', 'collapse'].includes(get('visibility'));
const isTiny = get => parseFloat(get('font-size')) === 0;
const CLIPPED = /^rect\\((?:[01]px,? ?){4}\\)$/;
const CLIP_PATH = /^(?:inset\\((?:[5-9]\\d|100)%\\)|circle\\(0|ellipse\\(0)/;
const hasText = element => {
  for (const child of childNodes(element))
    if (nodeType(child) === 3 && /\\S/.test(getter(CharacterData, 'data')(child))) return true;
  return false;
};

// How the browser hides an element: the name of a way, "shown" inside a hidden one, or "".
const hiding = element => {
  if (!(element instanceof HTMLElement) || element === root || localName(element) === 'body')
    return '';
  const get = style(element);
  if (get('display') === 'none') return 'display';
  if (get('display') === 'contents') return '';
  const parent = around(element);
  const parentGet = parent instanceof Element ? style(parent) : () => '';
  const wasHidden = isHidden(parentGet), wasTiny = isTiny(parentGet);
  if (wasHidden && !isHidden(get) || wasTiny && !isTiny(get)) return 'shown';
  if (isHidden(get) && !wasHidden) return 'visibility';
  if (isTiny(get) && !wasTiny) return 'font';
  if (parseFloat(get('opacity')) < 0.05) return 'opacity';
  if (parseFloat(get('text-indent')) <= -1000) return 'indent';
  const isOut = ['absolute', 'fixed'].includes(get('position'));
  if (isOut && CLIPPED.test(get('clip')) || CLIP_PATH.test(get('clip-path'))) return 'clip';
  const {width, height, right, bottom} = box(element);
  const moved = get('transform') !== 'none' || get('scale') !== 'none';
  if (moved && (width === 0 || height === 0)) return 'scale';
  const cuts = ['hidden', 'clip'].includes(get('overflow-x')) && get('display') !== 'inline';
  if (cuts && (width === 0 || height === 0 || width <= 1 && height <= 1)) return 'size';
  if ((isOut || moved) && (right + scrollX < -500 || bottom + scrollY < -500)) return 'away';
  return hasText(element) && isUnreadable(element, get) ? 'colour' : '';
};
const isMoving = element => {
  const get = style(element);
  return get('animation-name') !== 'none' || /[1-9]/.test(get('transition-duration'));
};
const mark = element => {
  const way = hiding(element);
  if (!way || way === 'shown') return way;
  if (!['display', 'clip', 'indent', 'font'].includes(way) && isMoving(element)) return '';
  return canChange(element) ? '' : way;
};
"""
