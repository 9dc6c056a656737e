/** How deep a text of JSON nests, told without reading it into a value: what walks a deep value would run out of stack. */

/** `most`: objects and lists within each other. A text that is no JSON gets some answer. */
export function isNestedDeeper(json: string, max: number): boolean {
  let depth = 0;
  let isQuoted = false;
  // Not by a pattern: a long text within quotes would run out of the stack of patterns.
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (isQuoted && char === '\\') at++;
    else if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    if (depth > max) return true;
  }
  return false;
}
