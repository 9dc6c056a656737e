/** Secrets and look-alikes in spellings that the corpus does not have. Every value is made up. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { registerValues, scrubText } from '@tempoclaw/scrubber';

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
    [`[fm2_${hex}, fm2r_${hex}]`, hex],
    [`docker login -p ${'fa4e0123'.repeat(8)}`, 'fa4e0123'.repeat(8)],
    [`"sessionId": "${'fa4e0123'.repeat(8)}"`, 'fa4e0123'.repeat(8)],
    [`access_token$production$fake1234fake1234$${'fa4e'.repeat(8)}`, 'fake1234fake1234'],
    [`EAAM${KEY.repeat(6)}`, KEY],
    [`> -----BEGIN PRIVATE KEY-----\n> ${LINE}\n> ${LINE.toLowerCase()}`, LINE.slice(8)],
    [`7: -----BEGIN PRIVATE KEY-----\n8: ${LINE}\n9: ${LINE}`, LINE],
    [`**Password:** \`${PASSWORD}\``, PASSWORD],
    [`<b>Password:</b> ${PASSWORD}`, PASSWORD],
    [`| password | ${PASSWORD} |`, PASSWORD],
    [`Key         Value\n---         -----\npassword    ${PASSWORD}\n`, PASSWORD],
    [`{ "password" :\n    "${PASSWORD}" }`, PASSWORD],
    [`password = """${PASSWORD}"""`, PASSWORD],
    [`{'password': b'${PASSWORD}'}`, PASSWORD],
    [`password：${PASSWORD}`, PASSWORD],
    [`“password”: “${PASSWORD}”`, PASSWORD],
    [`password:\u00a0${PASSWORD}`, PASSWORD],
    [`DB_PASSWORD ?= ${PASSWORD}`, PASSWORD],
    [`ENV["DB_PASSWORD"] ||= "${PASSWORD}"`, PASSWORD],
    [`options.setPassword("${PASSWORD}")`, PASSWORD],
    [`['password', '${PASSWORD}']`, PASSWORD],
    [`passWord=${PASSWORD}`, PASSWORD],
    [`http -a ann:${PASSWORD} x.test`, PASSWORD],
    [`gh secret set DEPLOY_TOKEN --body "${KEY}"`, KEY],
    ['postgres://u:p@ssw0rd1@db.test/app', 'ssw0rd1'],
    [`https://canary.discord.com/api/v10/webhooks/123456789012345678/${KEY.repeat(3)}`, KEY],
    [`d=xoxd-${KEY}%2B${PASSWORD}`, PASSWORD],
    [`goclaw_${'fa4e'.repeat(8)}`, 'fa4e'],
    [`eyJhbGciOiJkaXIifQ..${KEY}.${PASSWORD}.${KEY}${KEY}`, PASSWORD],
    [`---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n${LINE}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----`, LINE],
    [`\u200bAKIA\u2060FAKE5TESTKEY7ABC`, 'KEY7ABC'],
    [` * -----BEGIN RSA PRIVATE KEY-----\n * ${LINE}\n * ${LINE}`, LINE],
  ];
  for (const [text, secret] of forms)
    test(JSON.stringify(text.slice(0, 60)), () => {
      const scrubbed = scrub(text);
      assert.ok(!scrubbed.includes(secret) && scrubbed.includes('[REDACTED]'), scrubbed);
      assert.equal(scrub(scrubbed), scrubbed);
    });
});

test('the host of an address stays whatever its user is called', () => {
  const scrubbed = scrub(`origin https://x-access-token:${PASSWORD}@git.test/a.git (fetch)`);
  assert.equal(scrubbed, 'origin https://x-access-token:[REDACTED]@git.test/a.git (fetch)');
});

describe('a registered value goes in each of these forms', () => {
  const value = `it's \\a\n${KEY}`;
  const registered = registerValues([value]);
  for (const [form, text] of [
    ['trace of a shell', value.replaceAll("'", `'\\''`)],
    ['lines of a terminal', value.replaceAll('\n', '\r\n')],
    ['mail', value.replace(KEY, `FAKE99aa=\n${KEY.slice(8)}`)],
    ['invisible signs', value.replace(KEY, `FAKE99aa\u200b${KEY.slice(8)}`)],
  ] as const)
    test(form, () =>
      assert.equal(scrubText(`before ${text} after`, registered).text, 'before [REDACTED] after'),
    );
});

describe('what only looks like one stays', () => {
  const digest = 'fa4e0123'.repeat(8);
  for (const text of [
    `${digest}\tHEAD\n${digest}\trefs/heads/main`,
    `docker rm ${digest}`,
    `[{ "Id": "${digest}", "Name": "/web" }]`,
    `- "${digest}" # sha256`,
    'TOKEN_TTL_SECONDS=86400000',
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
    '${PASSWORD:?is missing}',
    '${DB_PASSWORD:-default}',
    'A file that starts with -----BEGIN PRIVATE KEY----- is refused.',
    'const [START, END] = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"];',
    '["password", "password2", "token"]',
    '| password | required |',
    'gh auth token | sha256sum',
    'password    string\ntoken       optional\n',
    'await page.getByLabel("Password").fill(password)',
    'password: **required**',
    '-----BEGIN PUBLIC KEY-----\n> MIIBfakefakefake',
  ])
    test(JSON.stringify(text), () => assert.equal(scrub(text), text));
});
