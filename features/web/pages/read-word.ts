/**
 * Reads documents of word processors (WordprocessingML): lists, links, notes, comments, headers. Runs in a thread of
 * its own (page-thread.ts).
 */
import { type Parts, partOf } from './office-parts.ts';
import { type Attributes, type FlowMarks, readFlow, readXml } from './read-xml.ts';

const MAX_COMMENTS = 200;

export function readWord(parts: Parts): string {
  const document = partOf(parts, 'word/document.xml');
  const notes = ['word/footnotes.xml', 'word/endnotes.xml'].flatMap((path) => parts.get(path) ?? []);
  const marks = marksOf(parts);
  const texts = [document, ...notes].map((xml) => readFlow(xml, marks));
  const changes = document.match(/<w:(?:ins|del|moveFrom|moveTo)[ >]/g)?.length ?? 0;
  return [
    ...texts,
    ...aroundPages(parts),
    comments(parts.get('word/comments.xml') ?? ''),
    changes === 0 ? '' : `[${changes} tracked changes: as if all were accepted]`,
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** What is above and below each page, once. */
function aroundPages(parts: Parts): readonly string[] {
  const lines = (['header', 'footer'] as const).flatMap((kind) =>
    [...parts]
      .filter(([path]) => new RegExp(`^word/${kind}\\d*\\.xml$`).test(path))
      .map(([, xml]) => readFlow(xml).replace(/\s+/g, ' '))
      .filter((text) => text !== '')
      .map((text) => `[${kind} of pages: ${text}]`),
  );
  return [...new Set(lines)];
}

function comments(xml: string): string {
  const found: string[] = [];
  let by = '';
  let text: string | undefined;
  let isText = false;
  readXml(xml, {
    open(name, attributes) {
      if (name === 'w:comment') [by, text] = [attributes['w:author'] ?? '', ''];
      isText = name === 'w:t';
    },
    text(piece) {
      if (text !== undefined && isText) text += piece;
    },
    close(name) {
      isText = false;
      if (text !== undefined && name === 'w:p') text += ' ';
      if (name !== 'w:comment' || text === undefined) return;
      found.push(`[comment${by === '' ? '' : `, ${by}`}: ${text.replace(/\s+/g, ' ').trim()}]`);
      text = undefined;
    },
  });
  return found.slice(0, MAX_COMMENTS).join('\n');
}

/** Takes a paragraph out of the list of its style. */
const NO_LIST = '0';

/** A list's level: a bullet, or its numbering. */
type Levels = ReadonlyMap<string, string>;

function marksOf(parts: Parts): FlowMarks {
  const links = parts.has('word/_rels/document.xml.rels') ? linksOf(parts) : new Map<string, string>();
  const { lists, styles } = listsOf(parts);
  const counts = new Map<string, number>();

  function itemMark(list: string, level: number): string {
    const indent = '  '.repeat(Math.min(level, 8));
    const kind = lists.get(list)?.get(String(level)) ?? 'bullet';
    if (kind === 'none') return indent;
    if (kind === 'bullet') return `${indent}- `;
    const count = (counts.get(`${list}/${level}`) ?? 0) + 1;
    counts.set(`${list}/${level}`, count);
    // The numbering below it starts again.
    for (const key of counts.keys())
      if (key.startsWith(`${list}/`) && Number(key.slice(list.length + 1)) > level) counts.delete(key);
    return `${indent}${count}. `;
  }

  return {
    item({ list, level, style }) {
      const ofStyle = styles.get(style ?? '');
      const own = list ?? ofStyle?.list ?? NO_LIST;
      return own === NO_LIST ? '' : itemMark(own, level ?? ofStyle?.level ?? 0);
    },
    link: (id) => links.get(id),
  };
}

/** Links that lead to the web. */
function linksOf(parts: Parts): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  readXml(partOf(parts, 'word/_rels/document.xml.rels'), {
    open(_name, { Id = '', Target = '', TargetMode: mode }) {
      if (mode === 'External' && /^(?:https?|mailto):/i.test(Target)) links.set(Id, Target);
    },
  });
  return links;
}

function listsOf(parts: Parts) {
  const kinds = new Map<string, Map<string, string>>();
  const lists = new Map<string, Levels>();
  let [kind, level, list] = ['', '', ''];
  readXml(parts.get('word/numbering.xml') ?? '', {
    open(name, attributes) {
      const value = attributes['w:val'] ?? '';
      if (name === 'w:abstractNum') {
        kind = attributes['w:abstractNumId'] ?? '';
        kinds.set(kind, new Map());
      }
      if (name === 'w:lvl') level = attributes['w:ilvl'] ?? '';
      if (name === 'w:numFmt') kinds.get(kind)?.set(level, value);
      if (name === 'w:num') list = attributes['w:numId'] ?? '';
      if (name === 'w:abstractNumId') lists.set(list, kinds.get(value) ?? new Map());
    },
  });
  return { lists, styles: listStyles(parts.get('word/styles.xml') ?? '') };
}

interface ListStyle {
  list: string;
  level: number;
}

/** Styles of paragraphs that are items of a list. */
function listStyles(xml: string): ReadonlyMap<string, ListStyle> {
  const styles = new Map<string, ListStyle>();
  let style = '';
  const ofStyle = (): ListStyle => styles.get(style) ?? { list: NO_LIST, level: 0 };
  readXml(xml, {
    open(name, attributes: Attributes) {
      const value = attributes['w:val'] ?? '';
      if (name === 'w:style') style = attributes['w:styleId'] ?? '';
      if (name === 'w:ilvl') styles.set(style, { ...ofStyle(), level: Number(value) || 0 });
      if (name === 'w:numId') styles.set(style, { ...ofStyle(), list: value });
    },
  });
  return styles;
}
