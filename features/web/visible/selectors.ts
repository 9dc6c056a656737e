/** Selectors of a style sheet as they apply to a page that nobody touches (Selectors 4). */
import {
  type CssNode,
  generate,
  ident,
  type List,
  parse,
  type PseudoClassSelector,
  type Selector,
  type SelectorList,
} from 'css-tree';

export interface PageSelector {
  /** One complex selector, for `querySelectorAll`. */
  readonly text: string;
  /** Ids, classes and elements in one number: a larger one wins. */
  readonly specificity: number;
  /** Classes and ids (`.name`, `#name`) in it, those of the element itself last. */
  readonly names: readonly string[];
  /** How many of these are the element's own. */
  readonly own: number;
}

/** These apply to no element until somebody acts. */
const IN_USE =
  /^(?:hover|active|focus|focus-within|focus-visible|visited|target|target-within|fullscreen|picture-in-picture|modal|popover-open|user-invalid|user-valid|autofill|playing|paused|current|past|future|host|host-context)$/;
/** Equivalents that `querySelectorAll` supports. */
const AS_ATTRIBUTE: Readonly<Record<string, string>> = {
  link: '[href]',
  'any-link': '[href]',
  checked: ':is([checked],[selected])',
  disabled: ':is([disabled],[disabled] :is(button,input,select,textarea))',
  enabled: ':is(button,input,select,textarea):not([disabled],[disabled] *)',
  open: '[open]',
  required: '[required]',
  optional: ':is(input,select,textarea):not([required])',
  'read-only': ':not(input:not([readonly]),textarea:not([readonly]))',
  'placeholder-shown': '[placeholder]:not([value])',
  defined: '*',
  scope: ':root',
};
const KNOWN =
  /^(?:is|where|not|has|matches|any|root|empty|nth-(?:last-)?(?:child|of-type)|(?:first|last|only)-(?:child|of-type))$/;
const FORGIVING = /^(?:is|where|matches|any)$/;
const NOTHING = ':not(*)';

/**
 * Returns undefined if a browser would ignore the whole rule. Selectors of pseudo-elements are omitted. `within` is
 * what `&` refers to.
 */
export function readSelectors(text: string, within?: string): readonly PageSelector[] | undefined {
  const list = parseList(text);
  if (!list) return undefined;
  const selectors: PageSelector[] = [];
  for (const node of list) {
    if (isOfPart(node)) continue;
    const specificity = specificityOf(node);
    const still = atRest(node);
    if (still === undefined) return undefined;
    selectors.push({ text: nested(still, within), specificity, ...namesOf(node) });
  }
  return selectors;
}

function parseList(text: string): readonly Selector[] | undefined {
  let tree: CssNode;
  try {
    tree = parse(text, { context: 'selectorList' });
  } catch {
    // A browser ignores it as well.
    return undefined;
  }
  const nodes = tree.type === 'SelectorList' ? tree.children.toArray() : [];
  return nodes.every((node): node is Selector => node.type === 'Selector') ? nodes : undefined;
}

function namesOf({ children }: Selector): Pick<PageSelector, 'names' | 'own'> {
  const names: string[] = [];
  let own = 0;
  for (const node of children.toArray()) {
    if (node.type === 'Combinator') own = 0;
    if (node.type !== 'ClassSelector' && node.type !== 'IdSelector') continue;
    names.push(`${node.type === 'IdSelector' ? '#' : '.'}${ident.decode(node.name)}`);
    own += 1;
  }
  return { names, own };
}

function nested(selector: string, within: string | undefined): string {
  if (within === undefined) return selector.replaceAll(NESTING, ':root');
  const around = `:is(${within})`;
  return selector.includes(NESTING) ? selector.replaceAll(NESTING, around) : `${around} ${selector}`;
}

/** Replaces `&`, which a name may also contain. */
const NESTING = '\ue001';

/** Legacy ones have one colon. */
const OLD_PARTS = /^(?:before|after|first-line|first-letter)$/;

function isOfPart({ children }: Selector): boolean {
  return children
    .toArray()
    .some(
      (node) =>
        node.type === 'PseudoElementSelector' ||
        (node.type === 'PseudoClassSelector' && OLD_PARTS.test(node.name)),
    );
}

/** Returns undefined if it contains something that no browser supports. */
function atRest(selector: Selector): string | undefined {
  const parts: string[] = [];
  for (const node of selector.children.toArray()) {
    const part = partAtRest(node);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return parts.join('');
}

function partAtRest(node: CssNode): string | undefined {
  if (node.type === 'NestingSelector') return NESTING;
  if (node.type === 'Combinator') return node.name === ' ' ? ' ' : ` ${node.name} `;
  return node.type === 'PseudoClassSelector' ? classAtRest(node) : generate(node);
}

function classAtRest(node: PseudoClassSelector): string | undefined {
  const name = node.name.toLowerCase();
  const inner = node.children?.toArray() ?? [];
  if (IN_USE.test(name)) return NOTHING;
  if (name === 'lang' || name === 'dir') return inherited(name, inner);
  if (!KNOWN.test(name)) return AS_ATTRIBUTE[name];
  const [list] = inner;
  return list?.type === 'SelectorList' ? branchesAtRest(name, list) : generate(node);
}

function branchesAtRest(name: string, { children }: SelectorList): string | undefined {
  const branches = children
    .toArray()
    .map((branch) => (branch.type === 'Selector' ? atRest(branch) : undefined));
  const known = branches.filter((branch) => branch !== undefined);
  const isForgiving = FORGIVING.test(name);
  if (known.length < branches.length && !isForgiving) return undefined;
  return known.length === 0 ? NOTHING : `:${isForgiving ? 'is' : name}(${known.join(',')})`;
}

function inherited(name: string, inner: readonly CssNode[]): string {
  const value = inner
    .map((node) => generate(node))
    .join('')
    .replace(/["'\\\]]/g, '');
  const attribute = name === 'lang' ? `[lang|="${value}" i]` : `[dir="${value}" i]`;
  return `:is(${attribute},${attribute} *)`;
}

const ID = 1_000_000;
const CLASS = 1_000;

function specificityOf({ children }: { readonly children: List<CssNode> }): number {
  return children.toArray().reduce((sum, node) => sum + weightOf(node), 0);
}

function weightOf(node: CssNode): number {
  switch (node.type) {
    case 'IdSelector':
      return ID;
    case 'ClassSelector':
    case 'AttributeSelector':
      return CLASS;
    case 'TypeSelector':
      return node.name === '*' ? 0 : 1;
    case 'PseudoClassSelector': {
      const [list] = node.children?.toArray() ?? [];
      if (list?.type !== 'SelectorList') return CLASS;
      if (node.name === 'where') return 0;
      return Math.max(
        ...list.children.toArray().map((one) => (one.type === 'Selector' ? specificityOf(one) : 0)),
      );
    }
    default:
      return 0;
  }
}
