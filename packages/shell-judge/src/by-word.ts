/** A table by name. The names of one row are written in one text, separated by blanks. */
export function byWord<Row>(rows: Readonly<Record<string, Row>>): ReadonlyMap<string, Row> {
  return new Map(
    Object.entries(rows).flatMap(([words, row]) => words.split(' ').map((word) => [word, row] as const)),
  );
}
