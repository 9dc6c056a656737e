import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { GITHUB_FORM, isHmacSigned, isStandardSigned, isStripeSigned } from '../signatures.ts';
import { refusesChanges, request } from '#features/channels/test/refuses-changes.ts';

describe('IN-4 signatures of calls', () => {
  it("GitHub's, as its documentation tests one", () => {
    const headers = {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    };
    const isSigned = (input: ReturnType<typeof request>) =>
      isHmacSigned(input, "It's a Secret to Everybody", GITHUB_FORM);
    refusesChanges(isSigned, 'Hello, World!', headers);
  });

  it("Stripe's, with several of its scheme while a secret is changed, for five minutes", () => {
    const [secret, body, time] = ['whsec_test', '{"id":"evt_1"}', 1_700_000_000];
    const v1 = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
    const signed = (header: string, at = time) =>
      isStripeSigned(request(body, { 'stripe-signature': header }), secret, at * 1000);
    assert.equal(signed(`t=${time},v1=${v1}`), true);
    assert.equal(signed(`t=${time}, v1=${'0'.repeat(64)}, v1=${v1}, v0=6ffbb5`), true);
    assert.equal(signed(`t=${time},v0=${v1}`), false);
    assert.equal(signed(`t=${time + 1},v1=${v1}`), false);
    assert.equal(signed(`v1=${v1}`), false);
    assert.equal(signed(`t=${time},v1=${v1}`, time + 301), false);
    assert.equal(signed(`t=${time},v1=${v1}`, time - 301), false);
  });

  it('Standard Webhooks, as their libraries sign, for five minutes', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const [id, time, body] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}'];
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(time),
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    refusesChanges((input) => isStandardSigned(input, secret, time * 1000), body, headers);
    const both = `v1,AAAA ${new Webhook(secret).sign(id, new Date(time * 1000), body)}`;
    const rotated = { ...headers, 'webhook-signature': both };
    assert.equal(isStandardSigned(request(body, rotated), secret, time * 1000), true);
    assert.equal(isStandardSigned(request(body, headers), secret, (time + 301) * 1000), false);
    const nameless = new Webhook(secret).sign('', new Date(time * 1000), body);
    const unnamed = { ...headers, 'webhook-id': '', 'webhook-signature': nameless };
    assert.equal(isStandardSigned(request(body, unnamed), secret, time * 1000), false);
    for (const wrong of ['', 'whsec_', 'no base64!'])
      assert.equal(isStandardSigned(request(body, headers), wrong, time * 1000), false, wrong);
  });

  it('plain HMAC in each form', () => {
    for (const algorithm of ['sha1', 'sha256', 'sha512'] as const)
      for (const encoding of ['hex', 'base64'] as const) {
        const form = { header: 'X-Ours', algorithm, encoding, prefix: 'v=' };
        const value = `v=${createHmac(algorithm, 'key').update('text').digest(encoding)}`;
        assert.equal(isHmacSigned(request('text', { 'x-ours': value }), 'key', form), true);
        assert.equal(isHmacSigned(request('text', { 'x-ours': value.slice(2) }), 'key', form), false);
      }
  });
});
