/** SC-1: secrets that a command, a form, a statement or a sentence names, and the same forms without one. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scrubText } from '@tempoclaw/scrubber';

const scrub = (text: string): string => scrubText(text).text;
/** Made up; it was never issued. */
const SECRET = 'Zx7-FAKEq82Lw';

describe('SC-1 a secret goes in each of these forms', () => {
  const forms = [
    (it: string) => `mongo --host h -u a -p ${it} db`,
    (it: string) => `mongodump -p "${it}" --db x`,
    (it: string) => `sqlcmd -S h -U sa -P ${it}`,
    (it: string) => `unzip -P ${it} a.zip`,
    (it: string) => `7z x -p${it} a.7z`,
    (it: string) => `ldapsearch -D cn=a -w ${it} -b dc=x`,
    (it: string) => `openssl rsa -in k -passin pass:${it}`,
    (it: string) => `smbclient -U me%${it} //h/s`,
    (it: string) => `set -gx GITHUB_TOKEN ${it}`,
    (it: string) => `setenv DB_PASSWORD ${it}`,
    (it: string) => `  storePassword '${it}'\n`,
    (it: string) => `form-data; name="api_key"\r\nContent-Type: text/plain\r\n\r\n${it}\r\n`,
    (it: string) => `secret_key = [[${it}]]`,
    (it: string) => `SET PASSWORD FOR 'u'@'h' = PASSWORD('${it}')`,
    (it: string) => `CREATE ROLE r SUPERUSER PASSWORD '${it}'`,
    (it: string) => `log in using the password \`${it}\``,
    (it: string) => `Password for user admin: ${it}`,
    (it: string) => `["--api-key", "${it}"]`,
    (it: string) => `::add-mask::${it}`,
    (it: string) => `WIFI:T:WPA;S:net;P:${it};;`,
    (it: string) => `Driver=x;Server=h;UID=u;PWD=${it};`,
    (it: string) => `Fastly-Key: ${it}`,
    (it: string) => `<input type=password name=p value="${it}">`,
    (it: string) => `<strong>API key</strong>: ${it}`,
    (it: string) => `dsn=mysql://u:${it}@h/d`,
  ];
  for (const form of forms)
    test(form('…'), () => {
      const text = form(SECRET);
      assert.ok(!scrub(text).includes(SECRET), scrub(text));
      assert.equal(scrub(scrub(text)), scrub(text));
    });

  test('a token as the user of a request without a password', () => {
    const token = 'ZFAKE1234567890abcdefghij';
    assert.ok(!scrub(`curl -u ${token}:X https://h.test`).includes(token));
  });
});

describe('SC-1 what only has the form of one stays', () => {
  const texts = [
    'docker run --name mongo -p 27017:27017 mongo:7',
    'mongo -p 27018',
    'unzip -P -d x a.zip',
    'set -e DEBUG 12345678',
    'setenv EDITOR vim8',
    `password "Password"`,
    'with the token `id`',
    'Password for user postgres: ',
    'token for next page: none',
    'form-data; name="file"; filename="a.txt"\r\n\r\nhello world',
    '<input type="password" placeholder="Password" value="{{value}}">',
    'local x = [[hello world]]',
    '["--password", "--user"]',
    'SET PASSWORD FOR u = ?',
    '::add-mask::$TOKEN',
    'WIFI:S:net;T:nopass;;',
    'cd a;PWD=/tmp/x1 ls',
    'dsn: redis://localhost:6379/0',
    'connectionString: "mongodb://localhost:27017/test"',
    'Mot de passe : réinitialisé',
    'Passwort: geändert',
    'Password: обязательно',
    '<b>Password</b>: required',
    `ENV GPG_KEY=${'FA4E0123'.repeat(5)}`,
    'PRIVATE_CIDR=10.0.0.0/16',
    'curl -u admin:X https://h.test',
    'v2.local.cluster.example',
    'polar_bear_count_1234567',
    'A'.repeat(110),
    `grep password "src/a1.ts"`,
  ];
  for (const text of texts) test(JSON.stringify(text).slice(0, 60), () => assert.equal(scrub(text), text));
});
