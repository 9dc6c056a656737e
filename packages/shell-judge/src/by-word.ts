/** A table by name, written with all names of one row in one text, with blanks between them. */
export function byWord<Row>(rows: Readonly<Record<string, Row>>): ReadonlyMap<string, Row> {
  return new Map(
    Object.entries(rows).flatMap(([words, row]) => words.split(' ').map((word) => [word, row] as const)),
  );
}
