import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  GITHUB_FORM,
  isDiscordSigned,
  isHmacSigned,
  isSlackSigned,
  isStandardSigned,
  isStripeSigned,
} from '../signatures.ts';
import { DISCORD, discordHeaders } from '#features/channels/test/discord-server.ts';

const request = (body: string, headers: Readonly<Record<string, string>>) => ({
  headers,
  body: Buffer.from(body),
  url: '/',
});

/** Checks everything that `sign` proves about a body. */
function refusesChanges(
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

describe('IN-4 signatures of services', () => {
  it("Slack's, as its documentation computes one, for five minutes", () => {
    const secret = '8f742231b10e8888abcd99yyyzzz85a5';
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
    const headers = {
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      'x-slack-request-timestamp': '1531420618',
    };
    const at = 1_531_420_618_000;
    refusesChanges((input) => isSlackSigned(input, secret, at), body, headers);
    for (const [skew, isIn] of [
      [299, true],
      [-299, true],
      [301, false],
      [-301, false],
    ] as const)
      assert.equal(isSlackSigned(request(body, headers), secret, at + skew * 1000), isIn, String(skew));
    assert.equal(isSlackSigned(request(body, headers), 'another', at), false);
  });

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
    for (const wrong of ['', 'whsec_', 'no base64!'])
      assert.equal(isStandardSigned(request(body, headers), wrong, time * 1000), false, wrong);
  });

  it("Discord's, by its public key", () => {
    const [body, at] = ['{"type":1}', Date.now()];
    refusesChanges((input) => isDiscordSigned(input, DISCORD.public_key, at), body, discordHeaders(body, at));
    const signed = request(body, discordHeaders(body, at));
    for (const key of ['', 'zz', '00'.repeat(32), 'ff'.repeat(32)])
      assert.equal(isDiscordSigned(signed, key, at), false, key);
    assert.equal(isDiscordSigned(signed, DISCORD.public_key, at + 301_000), false);
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
