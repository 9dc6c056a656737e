/**
 * The rules of a style sheet that apply on a usual screen, including nested ones (CSS Syntax 3, Nesting 1, Cascade 5).
 */
import { type Atrule, type Block, type CssNode, generate, parse, type Rule } from 'css-tree';
import { isForScreens, isSupported } from './media.ts';
import { type PageSelector, readSelectors } from './selectors.ts';

export interface Declaration {
  /** Lower case, except for a custom one. */
  readonly property: string;
  readonly value: string;
  readonly important: boolean;
}

export interface SheetRule {
  readonly selectors: readonly PageSelector[];
  readonly declarations: readonly Declaration[];
  /** Layers of a page, in the order of their first occurrence; rules without one override them. */
  readonly layer?: string | undefined;
}

export interface StyleSheet {
  readonly rules: readonly SheetRule[];
  /** Names in order, if layers are only named. */
  readonly layers: readonly string[];
  /** For an animation, what applies at its beginning and at its end. */
  readonly animations: ReadonlyMap<
    string,
    readonly [from: readonly Declaration[], to: readonly Declaration[]]
  >;
  /** Custom properties with a value of their own. */
  readonly initial: ReadonlyMap<string, string>;
  /** What `@import` names. */
  readonly imports: readonly string[];
}

/** `(root)`, or `(root) to (limit)`. */
const SCOPE = /^\(([^()]*(?:\([^()]*\)[^()]*)*)\)(?:\s*to\s*\((.*)\))?$/;
const MAX_DEPTH = 8;
const PLAIN = { parseValue: false, parseRulePrelude: false, parseAtrulePrelude: false } as const;

export function readStyleSheet(css: string): StyleSheet {
  const rules: SheetRule[] = [];
  const layers: string[] = [];
  const animations = new Map<string, readonly [readonly Declaration[], readonly Declaration[]]>();
  const initial = new Map<string, string>();
  const imports: string[] = [];

  interface Place {
    readonly within?: string | undefined;
    readonly layer?: string | undefined;
    readonly depth: number;
  }

  function readAll(nodes: readonly CssNode[], place: Place): void {
    if (place.depth > MAX_DEPTH) return;
    for (const node of nodes) {
      if (node.type === 'Rule') readRule(node, place);
      else if (node.type === 'Atrule') readAtRule(node, place);
      // The parser does not recognize nested rules without `&`.
      else if (node.type === 'Raw' && node.value.includes('{')) readAll(nodesOf(node.value), deeper(place));
    }
  }

  function readRule({ prelude, block }: Rule, place: Place): void {
    const text = generate(prelude);
    const selectors = readSelectors(text, place.within);
    if (!selectors) return;
    const declarations = declarationsOf(block);
    if (declarations.length > 0) rules.push({ selectors, declarations, layer: place.layer });
    const within = selectors.map((selector) => selector.text).join(',');
    if (within !== '') readAll(block.children.toArray(), { ...deeper(place), within });
  }

  function readAtRule({ name, prelude, block }: Atrule, place: Place): void {
    AT_RULES[name.toLowerCase().replace('-webkit-', '')]?.(
      prelude ? generate(prelude).trim() : '',
      block,
      place,
    );
  }

  const AT_RULES: Readonly<Record<string, (about: string, block: Block | null, place: Place) => void>> = {
    media(about, block, place) {
      if (isForScreens(about)) readWithin(block, place);
    },
    supports(about, block, place) {
      if (isSupported(about)) readWithin(block, place);
    },
    container(about, block, place) {
      if (isForScreens(about.replace(/^[\w-]+\s+(?=\()/, ''))) readWithin(block, place);
    },
    layer(about, block, place) {
      for (const layer of about.split(',')) layers.push(layer.trim());
      readWithin(block, { ...place, layer: about });
    },
    scope(about, block, place) {
      const [, root, limit] = SCOPE.exec(about) ?? [];
      if (root !== undefined) readScope(block?.children.toArray() ?? [], root, limit, place);
    },
    keyframes(about, block) {
      const inside = block?.children.toArray() ?? [];
      const name = about.replace(/^["']|["']$/g, '');
      animations.set(name, [frame(inside, /^(?:from|0%)$/i), frame(inside, /^(?:to|100%)$/i)]);
    },
    property(about, block) {
      const declarations = block ? declarationsOf(block) : [];
      const value = declarations.find(({ property }) => property === 'initial-value')?.value;
      if (value) initial.set(about, value);
    },
    import(about) {
      const address = /^(?:url\(\s*)?["']?(.*?)["']?\s*\)?\s*;?$/.exec(about)?.[1];
      if (address) imports.push(address);
    },
  };

  /** Within a rule, an at-rule may contain declarations for that rule's elements. */
  function readWithin(block: Block | null, place: Place): void {
    if (!block) return;
    const declarations = place.within === undefined ? [] : declarationsOf(block);
    const selectors = declarations.length > 0 ? readSelectors('&', place.within) : undefined;
    if (selectors) rules.push({ selectors, declarations, layer: place.layer });
    readAll(block.children.toArray(), deeper(place));
  }

  function readScope(
    nodes: readonly CssNode[],
    root: string,
    limit: string | undefined,
    { layer }: Place,
  ): void {
    const below = limit && `:is(${root}) :is(${limit})`;
    const outside = below ? `:not(${below}, ${below} *)` : '';
    for (const node of nodes) {
      if (node.type !== 'Rule') continue;
      const selectors = readSelectors(generate(node.prelude), root) ?? [];
      const within = selectors.map((one) => ({ ...one, text: one.text + outside }));
      rules.push({ selectors: within, declarations: declarationsOf(node.block), layer });
    }
  }

  readAll(nodesOf(css), { depth: 0 });
  return { rules, layers, animations, initial, imports };
}

function deeper<Place extends { readonly depth: number }>(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}

function nodesOf(css: string): readonly CssNode[] {
  const tree = parse(css, PLAIN);
  return tree.type === 'StyleSheet' ? tree.children.toArray() : [];
}

function frame(inside: readonly CssNode[], when: RegExp): readonly Declaration[] {
  return inside.flatMap((node) =>
    node.type === 'Rule' &&
    generate(node.prelude)
      .split(',')
      .some((at) => when.test(at.trim()))
      ? declarationsOf(node.block)
      : [],
  );
}

export function declarationsOf({ children }: Pick<Block, 'children'>): readonly Declaration[] {
  return children.toArray().flatMap((node) =>
    node.type === 'Declaration'
      ? [
          {
            property: node.property.startsWith('--') ? node.property : unescaped(node.property).toLowerCase(),
            value: unescaped(generate(node.value)).trim(),
            important: node.important !== false,
          },
        ]
      : [],
  );
}

/** The declarations of a `style` attribute. */
export function readStyleAttribute(text: string): readonly Declaration[] {
  const tree = parse(text, { context: 'declarationList', parseValue: false });
  return tree.type === 'DeclarationList' ? declarationsOf(tree) : [];
}

function unescaped(text: string): string {
  if (!text.includes('\\') && !text.includes('/*')) return text;
  return text
    .replace(/\/\*.*?(?:\*\/|$)/gs, ' ')
    .replace(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_escape, code: string | undefined, sign = '') =>
      code === undefined ? sign : characterOf(Number.parseInt(code, 16)),
    );
}

function characterOf(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

/** Splits at spaces outside brackets. */
export function splitTokens(text: string): readonly string[] {
  return text.match(/(?:[^\s()]|\((?:[^()]|\([^()]*\))*\))+/g) ?? [];
}
