/** How deep a text of JSON nests, told without reading it into a value: what walks a deep value would run out of stack. */

const QUOTED = /"(?:[^"\\]|\\.)*"?/gs;

/** `most`: objects and lists within each other. */
export function isNestedDeeper(json: string, most: number): boolean {
  let depth = 0;
  for (const [mark] of json.replace(QUOTED, '').matchAll(/[[\]{}]/g)) {
    depth += mark === '[' || mark === '{' ? 1 : -1;
    if (depth > most) return true;
  }
  return false;
}
