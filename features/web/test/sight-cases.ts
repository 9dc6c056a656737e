/**
 * Ways to show and to hide WORDS in a page, each as a browser shows it (test/ui/page-sight.test.ts compares them with
 * one).
 */
import { readFileSync } from 'node:fs';
import { type HtmlReading, readHtml } from '../pages/read-html.ts';
import { doc } from './page-case.ts';

export const READINGS: readonly HtmlReading[] = ['article', 'simple', 'text'];

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

/** What a reading makes of a case that a browser does not; nothing if it is right. */
export async function sightProblems(
  { name, html, isSeen }: SightCase,
  how: HtmlReading,
): Promise<readonly string[]> {
  const text = await readHtml(how, html, 'https://pub.example/d/');
  return [
    ...(text.includes('WORDS') === isSeen ? [] : [`${name}, ${how}`]),
    ...(/SEEN1 words\s+[^]*SEEN2 words/.test(text) ? [] : [`${name}, ${how}: lacks what stands around`]),
  ];
}

function styledParts(style: string): readonly PagePart[] {
  const attribute = style.replaceAll('"', '&quot;');
  return [
    { name: style, part: `<p style="${attribute}">WORDS</p>` },
    { name: `${style} of a class`, part: '<p class="w">WORDS</p>', head: `<style>.w{${style}}</style>` },
    { name: `${style} around it`, part: `<div style="${attribute}"><p>WORDS</p></div>` },
  ];
}
