/** Measures how deep JSON text nests without parsing it: code that walks a deep value would exhaust the stack. */

/**
 * `max`: greatest number of objects and lists within each other. For text that is not JSON the result is unspecified.
 */
export function isNestedDeeper(json: string, max: number): boolean {
  let depth = 0;
  let isQuoted = false;
  // This uses no regular expression, because a long quoted text would exhaust its stack.
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
