/** Formats valid JSON by its tokens: numbers, names and their order stay as they were written (RFC 8259). */

/** Matches where a string begins, a sign, or a number or word. */
const TOKEN = /["[\]{},:]|[^\s[\]{},:"]+/g;

/** Deeper lists and objects are not indented further. */
const MAX_INDENT = 50;

export function layOutJson(json: string): string {
  const parts: string[] = [];
  let depth = 0;
  let before = '';
  const line = (): void => void parts.push('\n', '  '.repeat(Math.min(depth, MAX_INDENT)));
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(json); found; found = TOKEN.exec(json)) {
    if (found[0] === '"') TOKEN.lastIndex = endOfString(json, found.index);
    const token = json.slice(found.index, TOKEN.lastIndex);
    const closes = token === ']' || token === '}';
    if (closes) depth -= 1;
    const isOpen = before === '[' || before === '{';
    if ((closes && !isOpen) || (!closes && (isOpen || before === ','))) line();
    parts.push(token === ':' ? ': ' : token);
    if (token === '[' || token === '{') depth += 1;
    before = token;
  }
  return parts.join('');
}

/** The position after its closing quotation mark, which an odd number of backslashes before it would escape. */
function endOfString(json: string, begin: number): number {
  for (let end = json.indexOf('"', begin + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return json.length;
}
