/**
 * Reads what is beside the cells of a workbook's sheet: comments and charts. Runs in a thread of its own
 * (page-thread.ts).
 */
import { type Parts, relationsOf } from './office-parts.ts';
import { readChart } from './read-chart.ts';
import { readXml } from './read-xml.ts';

const MAX_NOTES = 100;

/** One line each; `path` is the sheet's part. */
export function sheetNotes(parts: Parts, path: string): readonly string[] {
  const notes = related(parts, path).flatMap((near) => {
    if (/comments?\d*\.xml$/i.test(near)) return comments(parts.get(near) ?? '');
    if (!/drawing\d*\.xml$/i.test(near)) return [];
    const charts = related(parts, near).filter((one) => /chart\d*\.xml$/i.test(one));
    return charts.map((chart) => `[a chart: ${readChart(parts.get(chart) ?? '')}]`);
  });
  return notes.length > MAX_NOTES
    ? [...notes.slice(0, MAX_NOTES), `[and ${notes.length - MAX_NOTES} more notes]`]
    : notes;
}

/** Parts that a part names; they may be missing. */
function related(parts: Parts, path: string): readonly string[] {
  const slash = path.lastIndexOf('/') + 1;
  const [folder, name] = [path.slice(0, slash), path.slice(slash)];
  return parts.has(`${folder}_rels/${name}.rels`) ? [...relationsOf(parts, folder, name).values()] : [];
}

/** Comments of either kind; those in threads name no author that a reader knows. */
function comments(xml: string): readonly string[] {
  const authors: string[] = [];
  const found: { readonly place: string; readonly by: number | undefined; text: string }[] = [];
  let reading: string | undefined;
  readXml(
    xml,
    {
      open(name, { ref, authorId }) {
        if (name === 'author') authors.push('');
        if (/^(?:comment|threadedComment)$/.test(name))
          found.push({
            place: ref ?? '',
            by: authorId === undefined ? undefined : Number(authorId),
            text: '',
          });
        reading = name;
      },
      text(text) {
        const comment = found.at(-1);
        if (reading === 'author') authors.push((authors.pop() ?? '') + text);
        else if (comment && (reading === 't' || reading === 'text')) comment.text += text;
      },
      close() {
        reading = undefined;
      },
    },
    'dropped',
  );
  return found.map(({ place, by, text }) => {
    const author = by === undefined ? '' : (authors[by] ?? '');
    return `[comment on ${place}${author === '' ? '' : `, ${oneLine(author)}`}: ${oneLine(text)}]`;
  });
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
