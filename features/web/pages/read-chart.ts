/**
 * Summarizes a chart of an office file in a line: its title and the values that it was drawn from (DrawingML charts).
 * Runs in a thread of its own (page-thread.ts).
 */
import { readXml } from './read-xml.ts';

const MAX_POINTS = 50;

interface Series {
  name: string;
  readonly places: string[];
  readonly values: string[];
}

export function readChart(xml: string): string {
  let title = '';
  let titles = 0;
  const series: Series[] = [];
  const within: string[] = [];
  const isIn = (name: string): boolean => within.includes(name);
  readXml(
    xml,
    {
      open(name) {
        within.push(name);
        if (name === 'title') titles += 1;
        if (name === 'ser') series.push({ name: '', places: [], values: [] });
      },
      text(text) {
        // Its axes have titles too, which come later.
        if (isIn('title')) title += titles === 1 && within.at(-1) === 't' ? text : '';
        else if (within.at(-1) === 'v') put(series.at(-1), within, text);
      },
      close() {
        within.pop();
      },
    },
    'dropped',
  );
  return [
    oneLine(title) || 'without a title',
    ...series.map(wordsOfSeries).filter((words) => words !== ''),
  ].join('; ');
}

function put(series: Series | undefined, within: readonly string[], text: string): void {
  if (within.includes('tx') && series) series.name += text;
  else if (within.includes('cat') || within.includes('xVal')) series?.places.push(text);
  else if (within.includes('val') || within.includes('yVal')) series?.values.push(text);
}

function wordsOfSeries({ name, places, values }: Series): string {
  const points = values
    .slice(0, MAX_POINTS)
    .map((value, index) => (places[index] === undefined ? value : `${places[index]} ${value}`));
  const more = values.length > MAX_POINTS ? ', …' : '';
  return oneLine(`${name === '' ? '' : `${name}: `}${points.join(', ')}${more}`);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
