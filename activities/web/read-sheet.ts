/** The rules of a style sheet that count on a usual screen, those within others as well (CSS Syntax 3, Nesting 1, Cascade 5). */

export interface StyleRule {
  readonly selector: string;
  /** As in a `style` attribute. */
  readonly style: string;
}

const MAX_DEPTH = 8;
/** Their blocks have rules that count: of a layer, where a property is known, by the size of a part, within a part. */
const TRANSPARENT = /^@(?:supports|layer|container|scope)\b/i;

/** A sheet that ends within a block counts as if it were closed, as in browsers. */
export function readSheet(css: string): readonly StyleRule[] {
  const rules: StyleRule[] = [];
  const text = css.replace(/\/\*[^]*?(?:\*\/|$)/g, ' ');
  let at = 0;

  /** From behind a `{`, or the beginning, to behind its `}`; gives what is said there itself. */
  function readBlock(within: string | undefined, depth: number): string {
    let own = '';
    let said = '';
    while (at < text.length) {
      const char = text[at] ?? '';
      at += 1;
      if (char === '"' || char === "'") said += char + restOfString(char);
      else if (char === '\\') said += char + (text[at++] ?? '');
      else if (char === ';') {
        own += `${said};`;
        said = '';
      } else if (char === '}') break;
      else if (char === '{') {
        readRule(said.trim(), within, depth);
        said = '';
      } else said += char;
    }
    return own + said;
  }

  function readRule(prelude: string, within: string | undefined, depth: number): void {
    const media = /^@media\b(.*)$/is.exec(prelude)?.[1];
    const counts = media === undefined ? TRANSPARENT.test(prelude) : isForScreens(media);
    if (depth > MAX_DEPTH || (prelude.startsWith('@') && !counts)) {
      skipBlock();
      return;
    }
    const isRule = !prelude.startsWith('@');
    const selector = isRule ? nested(prelude, within) : within;
    const place = rules.length;
    const style = readBlock(selector, depth + 1);
    if (selector !== undefined && style.trim() !== '') rules.splice(place, 0, { selector, style });
  }

  function skipBlock(): void {
    for (let open = 1; at < text.length && open > 0; at += 1) {
      if (text[at] === '{') open += 1;
      if (text[at] === '}') open -= 1;
    }
  }

  function restOfString(quote: string): string {
    const begin = at;
    while (at < text.length && text[at] !== quote && text[at] !== '\n') at += text[at] === '\\' ? 2 : 1;
    at += 1;
    return text.slice(begin, at);
  }

  while (at < text.length) readBlock(undefined, 0);
  return rules;
}

function nested(selector: string, within: string | undefined): string {
  if (within === undefined) return selector;
  return selector.includes('&') ? selector.replaceAll('&', within) : `${within} ${selector}`;
}

/** CSS pixels of a usual screen. */
const SCREEN = { width: 1_280, height: 800 };

/** Of a visitor who has set nothing. */
const USUAL =
  /^(?:(?:only\s+)?(?:all|screen)|\(\s*(?:orientation\s*:\s*landscape|prefers-color-scheme\s*:\s*light|prefers-reduced-motion\s*:\s*no-preference|(?:any-)?hover\s*:\s*hover|(?:any-)?pointer\s*:\s*fine)\s*\))$/i;
const BOUND =
  /^\(\s*(?:(min|max)-(width|height)\s*:|(width|height)\s*([<>])=?)\s*(\d+(?:\.\d+)?)(px|r?em)\s*\)$/i;

/** Media Queries 4, of what pages use to choose by size; what else is asked says nothing of the page as it comes. */
function isForScreens(media: string): boolean {
  return media.split(',').some((query) => {
    if (/^\s*not\s+(?:print|speech)\b/i.test(query)) return true;
    return query.split(/\band\b/i).every((part) => {
      const [, bound, side, other, sign, size, unit] = BOUND.exec(part.trim()) ?? [];
      if (size === undefined) return USUAL.test(part.trim());
      const pixels = Number(size) * (unit === 'px' ? 1 : 16);
      const have = (side ?? other) === 'width' ? SCREEN.width : SCREEN.height;
      return bound === 'min' || sign === '>' ? pixels <= have : pixels >= have;
    });
  });
}
