/**
 * Ways to show and to hide WORDS in a page, each as a browser shows it (test/ui/page-sight.test.ts compares them with
 * one).
 */
import { readFileSync } from 'node:fs';
import { doc } from './page-case.ts';

interface PagePart {
  readonly name: string;
  readonly part: string;
  readonly head?: string;
}

interface Cases {
  /** As an attribute, by a class, and on the surrounding elements. */
  readonly styles: Readonly<Record<'seen' | 'hidden', readonly string[]>>;
  readonly parts: Readonly<Record<'seen' | 'hidden', readonly PagePart[]>>;
}

export interface SightCase {
  readonly name: string;
  readonly html: string;
  readonly isSeen: boolean;
}

export function sightCases(): readonly SightCase[] {
  const cases = JSON.parse(readFileSync(new URL('./sight-cases.json', import.meta.url), 'utf8')) as Cases;
  return (['seen', 'hidden'] as const).flatMap((kind) =>
    [...cases.styles[kind].flatMap(styledParts), ...cases.parts[kind]].map(({ name, part, head }) => ({
      name: `${kind}: ${name}`,
      html: doc(`<main><p>SEEN1 words</p>${part}<p>SEEN2 words</p></main>`, head),
      isSeen: kind === 'seen',
    })),
  );
}

function styledParts(style: string): readonly PagePart[] {
  const attribute = style.replaceAll('"', '&quot;');
  return [
    { name: style, part: `<p style="${attribute}">WORDS</p>` },
    { name: `${style} of a class`, part: '<p class="w">WORDS</p>', head: `<style>.w{${style}}</style>` },
    { name: `${style} around it`, part: `<div style="${attribute}"><p>WORDS</p></div>` },
  ];
}
