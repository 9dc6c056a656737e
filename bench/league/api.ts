/** Requests of the bench to the API of its TempoClaw. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request that meets an API at its start, or without its database, is sent again for so long. */
const ACCEPT_MS = 120_000;

/** The admin's key, which the API writes at its first start. */
export async function keyOf(stateDir: string): Promise<string> {
  return (await readFile(join(stateDir, 'api-key'), 'utf8')).trim();
}

/** Sends a message once, however often it is asked. Throws the last error. */
export async function begin(
  { url, key, agent }: { readonly url: string; readonly key: string; readonly agent: string },
  turn: string,
  text: string,
): Promise<void> {
  for (const until = performance.now() + ACCEPT_MS; ; await sleep(100))
    try {
      return await ask(url, key, `/v1/sessions/${turn}/messages`, { text, agent }, turn);
    } catch (error) {
      if (performance.now() > until) throw error;
    }
}

/** `once` is the idempotency key. Throws when the answer is an error. */
export async function ask(url: string, key: string, path: string, body: object, once = ''): Promise<void> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(once && { 'idempotency-key': once }),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 500)}`);
  await response.body?.cancel();
}

/** The text of the answer. Throws when it is an error. */
export async function read(url: string, key: string, path: string): Promise<string> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 500)}`);
  return response.text();
}
