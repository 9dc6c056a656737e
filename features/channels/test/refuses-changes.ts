/** Signed requests in tests. */
import assert from 'node:assert/strict';

export const request = (body: string, headers: Readonly<Record<string, string>>) => ({
  headers,
  body: Buffer.from(body),
  url: '/',
});

/** Checks everything that `sign` proves about a body. */
export function refusesChanges(
  isSigned: (input: ReturnType<typeof request>) => boolean,
  body: string,
  headers: Readonly<Record<string, string>>,
): void {
  assert.equal(isSigned(request(body, headers)), true);
  assert.equal(isSigned(request(`${body} `, headers)), false);
  for (const [name, value] of Object.entries(headers)) {
    assert.equal(isSigned(request(body, { ...headers, [name]: '' })), false, name);
    const { [name]: _, ...without } = headers;
    assert.equal(isSigned(request(body, without)), false, name);
    const last = value.endsWith('0') ? '1' : '0';
    if (!/time/.test(name))
      assert.equal(isSigned(request(body, { ...headers, [name]: value.slice(0, -1) + last })), false, name);
  }
}
