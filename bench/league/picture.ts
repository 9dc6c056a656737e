/** Draws how turns ended: a bar for each row, for light and dark pages. */
import { type Results, totalOf, WORKER_POINTS } from './results.ts';
import { OUTCOMES, type Outcome } from './trial.ts';

const WORDS: Readonly<Record<Outcome, string>> = {
  right: 'paid once',
  unknown: 'told that it is unknown',
  failed: 'failed with an error',
  late: 'not back in 2 minutes',
  doubled: 'paid twice',
  lost: 'lost',
};
/** On a light page and on a dark one. */
const COLOURS: Readonly<Record<Outcome, readonly [string, string]>> = {
  right: ['#1a7f5a', '#3fb68b'],
  unknown: ['#3b6fd4', '#7aa5f7'],
  failed: ['#8a8f98', '#8a8f98'],
  late: ['#c9a227', '#e0bd4f'],
  doubled: ['#c8333a', '#f0646a'],
  lost: ['#4b2a6b', '#b48ae0'],
};

const WIDTH = 840;
const LEFT = 220;
const ROW = 34;
const BAR = 20;
const TOP = 84;
const BARS = WIDTH - LEFT - 24;
/** Narrower parts have no number in them. */
const NUMBER_PX = 26;

export interface Bars {
  readonly title: string;
  /** What each outcome is called; those without a name do not occur. */
  readonly words: Readonly<Partial<Record<Outcome, string>>>;
  readonly rows: readonly Row[];
}

interface Row {
  readonly title: string;
  readonly n: number;
  readonly counts: Readonly<Partial<Record<Outcome, number>>>;
}

export function drawPicture({ sides }: Results): string {
  const rows = sides.flatMap((side) => {
    const total = totalOf(side, WORKER_POINTS);
    return total.n > 0 ? [{ title: side.title.replaceAll('`', ''), ...total }] : [];
  });
  const title = `How turns ended whose worker was killed, at ${WORKER_POINTS.length} points of a payment`;
  return drawBars({ title, words: WORDS, rows });
}

export function drawBars({ title, words, rows }: Bars): string {
  const height = TOP + rows.length * ROW + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${title}</title>`,
    `<style>${style()}</style>`,
    `<text class="head" x="16" y="26">${title}</text>`,
    ...legend(words),
    ...rows.flatMap((row, index) => bar(row, words, TOP + index * ROW)),
    '</svg>',
    '',
  ].join('\n');
}

function style(): string {
  const fills = (at: 0 | 1): string => OUTCOMES.map((one) => `.${one}{fill:${COLOURS[one][at]}}`).join('');
  return [
    'text{font:13px system-ui,sans-serif;fill:#1f2328}.head{font-weight:600;font-size:15px}.in{fill:#fff;font-size:12px}',
    fills(0),
    '@media (prefers-color-scheme:dark){text{fill:#e6edf3}.in{fill:#10151c}',
    fills(1),
    '}',
  ].join('');
}

function legend(words: Bars['words']): string[] {
  let x = 16;
  return OUTCOMES.flatMap((one) => {
    const text = words[one];
    if (text === undefined) return [];
    const from = x;
    x += 34 + text.length * 6.6;
    return [
      `<rect class="${one}" x="${from}" y="46" width="12" height="12" rx="2"/>`,
      `<text x="${from + 17}" y="57">${text}</text>`,
    ];
  });
}

function bar({ title, n, counts }: Row, words: Bars['words'], y: number): string[] {
  let x = LEFT;
  const parts = OUTCOMES.filter((one) => counts[one]).flatMap((one) => {
    const count = counts[one] ?? 0;
    const width = (BARS * count) / n;
    const from = x;
    x += width;
    const rect = `<rect class="${one}" x="${from.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${BAR}"><title>${title}: ${count} of ${n} ${words[one]}</title></rect>`;
    if (width < NUMBER_PX) return [rect];
    const middle = (from + width / 2).toFixed(1);
    return [rect, `<text class="in" x="${middle}" y="${y + 15}" text-anchor="middle">${count}</text>`];
  });
  return [`<text x="${LEFT - 10}" y="${y + 15}" text-anchor="end">${title}</text>`, ...parts];
}
