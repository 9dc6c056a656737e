/** Secrets that tests put where none may be, and the refusal that they expect (SC-3). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { startApi, type TestApi } from './stack.ts';

/** `stored` has no known shape, and is detected because it is stored. */
export const PLANTED = {
  shaped: `ghp_${randomBytes(18).toString('hex')}`,
  stored: `zebra-${randomBytes(8).toString('hex')}`,
};

/** Starts an API whose tenant has the stored one. */
export async function startWithSecret(): Promise<TestApi> {
  const api = await startApi();
  const made = await api.ask('PUT', '/v1/secrets/STORED', { body: { value: PLANTED.stored } });
  assert.ok(made.status < 300, JSON.stringify(made.body));
  return api;
}

/** Asserts that the request is refused and names the place of the secret. */
export async function refusesSecret(
  api: TestApi,
  method: string,
  path: string,
  body: unknown,
  pointer: string,
): Promise<void> {
  const { status, body: problem } = await api.ask(method, path, { body });
  assert.equal(status, 422, `${path} ${JSON.stringify(problem)}`);
  assert.equal((problem.errors as { pointer: string }[])[0]?.pointer, pointer, path);
  assert.match(String(problem.detail), /holds a secret/);
}
