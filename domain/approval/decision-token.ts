/**
 * Finds decision tokens in messages (policy/decision-token.ts makes and reads them). It uses no Node module, because
 * workflows bundle it.
 */

/**
 * Claims in base64url, a dot, 32 bytes in base64url. A match starts at a word boundary, so that long words are read
 * only once.
 */
const TOKEN = String.raw`(?<![\w-])[\w-]{40,2000}\.[\w-]{43}`;

/**
 * Everything in a message that looks like a token, each once, at any place: people who read the history read all of it.
 */
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
