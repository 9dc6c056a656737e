import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDiscordSigned, isSlackSigned } from '../signatures.ts';
import { DISCORD, discordHeaders } from './discord-server.ts';
import { refusesChanges, request } from './refuses-changes.ts';

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

  it("Discord's, by its public key", () => {
    const [body, at] = ['{"type":1}', Date.now()];
    refusesChanges((input) => isDiscordSigned(input, DISCORD.public_key, at), body, discordHeaders(body, at));
    const signed = request(body, discordHeaders(body, at));
    for (const key of ['', 'zz', '00'.repeat(32), 'ff'.repeat(32)])
      assert.equal(isDiscordSigned(signed, key, at), false, key);
    assert.equal(isDiscordSigned(signed, DISCORD.public_key, at + 301_000), false);
  });
});
