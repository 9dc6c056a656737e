/** Secrets and look-alikes in spellings that the corpus does not have. Every value is made up. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scrubText } from '@tempoclaw/scrubber';

const scrub = (text: string): string => scrubText(text).text;
const [PASSWORD, KEY] = ['Fake1234pw', 'FAKE99aa88bb77cc'];
const LINE = `MIIEFAKE${'aB3d'.repeat(14)}`;

describe('a secret goes in each of these spellings', () => {
  const hex = 'fa4e'.repeat(10);
  const forms: [string, string][] = [
    [`define('DB_PASSWORD', '${PASSWORD}');`, PASSWORD],
    [`setenv("API_TOKEN", "${KEY}", 1)`, KEY],
    [`<Password value="${PASSWORD}"/>`, PASSWORD],
    [`Your password is: ${PASSWORD}`, PASSWORD],
    [`CREATE USER a IDENTIFIED BY '${PASSWORD}'`, PASSWORD],
    [`alter role a with password '${PASSWORD}'`, PASSWORD],
    [`curl -uadmin:${PASSWORD} https://x.test`, PASSWORD],
    [`Authorization: ApiKey ${KEY}`, KEY],
    [`Authorization: SSWS ${KEY}`, KEY],
    [`passwort: ${PASSWORD}`, PASSWORD],
    [`mot de passe: ${PASSWORD}`, PASSWORD],
    [`DEVOPS_PAT=${KEY}`, KEY],
    [`PresharedKey = ${KEY}`, KEY],
    [`{"kty":"oct","k":"${KEY}${KEY}"}`, KEY],
    [`VAULT_TOKEN=s.FAKE99aa88bb77ccFAKE99aa`, 'FAKE99aa88bb77cc'],
    [`found sqp_${hex}.`, hex],
    [`access_token$production$fake1234fake1234$${'fa4e'.repeat(8)}`, 'fake1234fake1234'],
    [`EAAM${KEY.repeat(6)}`, KEY],
    [`> -----BEGIN PRIVATE KEY-----\n> ${LINE}\n> ${LINE.toLowerCase()}`, LINE.slice(8)],
    [`7: -----BEGIN PRIVATE KEY-----\n8: ${LINE}\n9: ${LINE}`, LINE],
    [` * -----BEGIN RSA PRIVATE KEY-----\n * ${LINE}\n * ${LINE}`, LINE],
  ];
  for (const [text, secret] of forms)
    test(JSON.stringify(text.slice(0, 60)), () => {
      const scrubbed = scrub(text);
      assert.ok(!scrubbed.includes(secret) && scrubbed.includes('[REDACTED]'), scrubbed);
      assert.equal(scrub(scrubbed), scrubbed);
    });
});

describe('what only looks like one stays', () => {
  for (const text of [
    'secret: v1.Secret',
    'var token *authv1beta1.TokenReview',
    "define('PASSWORD_MIN', 'twelve')",
    "set('token', token)",
    `ALTER ROLE a WITH PASSWORD '\${DB_PASSWORD}'`,
    "error in field password 'must be longer'",
    '<Password value="${PASSWORD}"/>',
    'Your password is: too short',
    'curl -u$USER:$PASSWORD https://x.test',
    'Authorization: ApiKey <key>',
    'passwort: erforderlich',
    'rate limit test_deadbeef',
    '-----BEGIN PUBLIC KEY-----\n> MIIBfakefakefake',
  ])
    test(JSON.stringify(text), () => assert.equal(scrub(text), text));
});
