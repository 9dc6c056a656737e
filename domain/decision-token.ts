/** Decision tokens as they stand in messages (policy/decision-token.ts makes and reads them). Plain code, since workflows bundle it. */

/** Claims in base64url, a dot, 32 bytes in base64url. Begins at the edge of a word, so that long words are read once. */
const TOKEN = String.raw`(?<![\w-])[\w-]{40,2000}\.[\w-]{43}`;

/** All in a message that look like one, wherever they stand: whoever reads the history reads them there. Each once. */
export function tokensIn(message: unknown): readonly string[] {
  const found = new Set<string>();
  const remaining: unknown[] = [message];
  while (remaining.length > 0) {
    const value = remaining.pop();
    if (typeof value === 'string')
      for (const [token] of value.matchAll(new RegExp(TOKEN, 'g'))) found.add(token);
    else if (typeof value === 'object' && value !== null)
      for (const [name, field] of Object.entries(value)) remaining.push(name, field);
  }
  return [...found];
}
