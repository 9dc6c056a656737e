/** The cases of vectors/scrub.json, a corpus of secrets and look-alikes, and cases that no vector has. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { registerValues, scrubText } from '@tempoclaw/scrubber';
import fc from 'fast-check';

const SCRUB = read<{
  cases: { text: string; expect: 'redact' | 'keep'; must_not_contain?: string }[];
}>('scrub.json');
const CORPUS = read<{
  secrets: {
    id: string;
    vendor: string;
    secret_parts: string[];
    text: string;
    must_redact: 'secret' | 'body';
    keep?: string[];
    registered_secret?: string;
  }[];
  lookalikes: { id: string; kind: string; text: string }[];
  redos: { id: string; repeat: [string, number] }[];
}>('secrets-corpus.json');

function read<Content>(name: string): Content {
  return JSON.parse(readFileSync(new URL(`./vectors/${name}`, import.meta.url), 'utf8')) as Content;
}

const scrub = (text: string): string => scrubText(text).text;

describe('cases of other scrubbers', () => {
  for (const { text, expect, must_not_contain } of SCRUB.cases)
    test(`${expect}: ${JSON.stringify(text.slice(0, 40))}`, () => {
      if (expect === 'keep') assert.equal(scrub(text), text);
      else {
        assert.ok(must_not_contain !== undefined && !scrub(text).includes(must_not_contain), scrub(text));
        assert.match(scrub(text), /\[REDACTED\]/);
      }
      assert.equal(scrub(scrub(text)), scrub(text));
    });
});

describe('the corpus: every secret goes, every look-alike stays', () => {
  for (const { id, vendor, secret_parts, text, must_redact, keep, registered_secret } of CORPUS.secrets)
    test(`${id} ${vendor}`, () => {
      const secret = secret_parts.join('');
      const registered = registerValues(registered_secret === undefined ? [] : [registered_secret]);
      const scrubbed = scrubText(
        text.replace('{{S}}', () => secret),
        registered,
      ).text;
      const parts =
        must_redact === 'secret'
          ? [secret, secret.slice(5)]
          : secret.split('\n').filter((line) => line.length >= 16 && !line.startsWith('-----'));
      for (const part of parts) assert.ok(!scrubbed.includes(part), scrubbed);
      for (const kept of keep ?? []) assert.ok(scrubbed.includes(kept), scrubbed);
      assert.equal(scrubText(scrubbed, registered).text, scrubbed);
    });
  for (const { id, kind, text } of CORPUS.lookalikes)
    test(`${id} ${kind}`, () => assert.equal(scrub(text), text));
});

/** Made up for these tests; none was ever issued. */
const [PASSWORD, KEY] = ['Fake1234pw', 'FAKE99aa88bb77cc'];

describe('a value under the name of a secret goes, however the two are written', () => {
  const forms: [string, string][] = [
    [`Authorization: Bearer ${KEY}`, KEY],
    [`-H "Authorization: token ${KEY}"`, KEY],
    ['authorization=Basic12345678', 'Basic12345678'],
    ['Authorization: Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
    [`x-api-key: ${KEY}`, KEY],
    [`//registry.test/:_authToken=${KEY}`, KEY],
    [`cmd --api-key ${KEY} run`, KEY],
    [`cmd --client-secret "FAKE 99 words"`, 'FAKE 99 words'],
    [`--password ${PASSWORD} at the beginning`, PASSWORD],
    [`docker login registry.test -u me -p ${PASSWORD}`, PASSWORD],
    [`sudo podman login -p ${PASSWORD} -u me registry.test`, PASSWORD],
    [`helm registry login -u me -p ${PASSWORD} registry.test`, PASSWORD],
    [`az login --service-principal -u me -p ${PASSWORD} -t it`, PASSWORD],
    [`https://maps.test/js?key=${KEY}zz${KEY}&v=3`, KEY],
    [`{"kty":"EC","crv":"P-256","d":"${KEY.repeat(3)}"}`, KEY],
    [`mysql --password=${PASSWORD} -u root`, PASSWORD],
    [`mysql -u root -p${PASSWORD} db`, PASSWORD],
    [`curl -u admin:${PASSWORD} https://x.test`, PASSWORD],
    [`redis-cli -h cache -a ${PASSWORD} ping`, PASSWORD],
    [`<password>${PASSWORD}</password>`, PASSWORD],
    [`<add key="Password" value="${PASSWORD}"/>`, PASSWORD],
    [`<key>API Key</key>\n  <string>${KEY}</string>`, KEY],
    [`- name: DB_PASSWORD\n  value: ${PASSWORD}`, PASSWORD],
    [`{"name":"API_KEY","value":"${KEY}"}`, KEY],
    [`password: |\n  ${PASSWORD}\n`, PASSWORD],
    [`"{\\"password\\":\\"${PASSWORD}\\"}"`, PASSWORD],
    [`os.environ['API_KEY'] = '${KEY}'`, KEY],
    [`password: str = "${PASSWORD}"`, PASSWORD],
    [`const token: string = "${KEY}";`, KEY],
    [`:password => "${PASSWORD}"`, PASSWORD],
    [`Server=x;User Id=sa;Pwd=${PASSWORD};Database=y`, PASSWORD],
    [`https://user:${PASSWORD}@example.test/x`, PASSWORD],
    [`postgres://u:pa@ss${PASSWORD}@h/db`, PASSWORD],
    [`jdbc:oracle:thin:scott/${PASSWORD}@//h:1521/x`, PASSWORD],
    [`db.example.test:5432:app:me:${PASSWORD}`, PASSWORD],
    [`machine x.test login me password ${PASSWORD}`, PASSWORD],
    [`Your API key is ${KEY}`, KEY],
    [`API key provided: ${KEY}.`, KEY],
    [`The password is ${PASSWORD}!`, PASSWORD],
    ['PGPASSWORD=fakepw psql', 'fakepw'],
    ['"password":"swordfish"', 'swordfish'],
    ['password: swordfish\nuser: me', 'swordfish'],
    [`spring.datasource.password=${PASSWORD}`, PASSWORD],
    [`dbPasswordOld: ${PASSWORD}`, PASSWORD],
    [`api_key_2="${KEY}"`, KEY],
    [`password%3D${PASSWORD}%26x%3D1`, PASSWORD],
    [`?access_token=${KEY}&x=1`, KEY],
    [`ENV API_TOKEN ${KEY}`, KEY],
    [`requirepass ${PASSWORD}`, PASSWORD],
    [`Cookie: theme=dark; connect.sid=s%3A${KEY}`, KEY],
    ['mnemonic: "apple word one two three four five six seven eight nine ten"', 'apple word'],
    ['SENTRY_DSN=https://abc@o1.ingest.test/1', 'abc@o1'],
    ['VIRTUAL_HOST=abcd.example.test', 'abcd'],
    ['secret 0x' + 'fa4e'.repeat(16), 'fa4efa4e'],
    [`GET https://api.telegram.org/bot123456:AA${KEY.repeat(2)}/getMe`, KEY],
    ['Authorization: Bearer opaquesessioncredit', 'opaquesession'],
    [`{"headers":{"Authorization":["Bearer ${KEY}"]}}`, KEY],
    [`curl -H Authorization:\\ Bearer\\ ${KEY} https://x.test`, KEY],
    ['log: Bearer aZ9kQ2mX7pL4', 'aZ9kQ2mX7pL4'],
    [`DSN=${KEY}`, KEY],
    [`export DSN="host=h user=u password=${PASSWORD}"`, PASSWORD],
    [`dsn := "user:${PASSWORD}@unix(/tmp/mysql.sock)/db"`, PASSWORD],
    ['secret: hunter2', 'hunter2'],
    ['token=48151623', '48151623'],
    ['api_key: 48151623', '48151623'],
    ['{"secret": "48151623"}', '48151623'],
    ['Wrong password: 481516 for me', '481516'],
    ['KEY=fa4e01b7k9x2', 'fa4e01b7k9x2'],
    ['secret: swordfish\nuser: me', 'swordfish'],
    ['client_secret: correct-horse-battery', 'correct-horse'],
    ['password: "correct horse battery staple"', 'correct horse'],
    [`key=${'fa4e01b7'.repeat(8)}  # of the image`, 'fa4e01b7'],
    [`hash key: ${'fa4e01b7'.repeat(8)}`, 'fa4e01b7'],
    [`https:\\/\\/user:${PASSWORD}@x.test\\/a`, PASSWORD],
  ];
  for (const [text, secret] of forms)
    test(text.slice(0, 60), () => {
      assert.ok(!scrub(text).includes(secret), scrub(text));
      assert.equal(scrub(scrub(text)), scrub(text));
    });
});

describe('of an address only the password goes', () => {
  const addresses = [
    'postgres://user:…@host/db',
    'DATABASE_URL=postgres://user:…@host:5432/db?sslmode=require',
    'DSN=user:…@tcp(host:3306)/db?parseTime=true',
    'sql.Open("mysql", "root:…@/db")',
    'dsn = "host=h user=u password=… dbname=d"',
    'CONNECTION_STRING="Server=h;User Id=sa;Pwd=…;Database=d"',
    '{"REDIS_URL":"redis://:…@cache:6379/0"}',
  ];
  for (const address of addresses)
    test(address, () =>
      assert.equal(scrub(address.replace('…', PASSWORD)), address.replace('…', '[REDACTED]')),
    );
});

describe('what only looks like a secret stays', () => {
  const texts = [
    'API_KEY=<your-api-key>',
    'API_KEY=your_api_key_here',
    'KEY=VALUE',
    'KEY=abcdefgh',
    '{"token": 48151623, "max_token": 48151623}',
    'tokens=48151623 used',
    'password=********',
    'password: ${DB_PASSWORD}',
    'TOKEN=$(cat /run/secrets/token)',
    'token: {{ .Values.token }}',
    'apiKey: process.env.API_KEY',
    'api_key = os.environ["API_KEY"]',
    'function login(user: string, password: string): Promise<void>',
    'const token = await getToken(user);',
    'if (password === confirmPassword) {',
    'credential: AzureCredential',
    '"token_type":"Bearer","expires_in":3600',
    'token_endpoint: https://oauth2.example.test/token',
    'session_key: main:web:12345678',
    '"session_key":"tool-5e1f8d7a-0b1c-4d2e-9f3a-4b5c6d7e8f90"',
    'PRIMARY_KEY=customer_id',
    'idempotency_key: 5e1f8d7a-0b1c-4d2e-9f3a',
    'secretName: my-tls-secret2',
    'PWD=/home/user/project1',
    'VIRTUAL_ENV=/home/u/.venv',
    'KEY_FILE=/etc/ssl/private/key1.pem',
    'credentials: "same-origin"',
    '"nextToken": "abc12345678"',
    'Unexpected token: identifier123',
    'Passwords must be at least 12 characters long',
    '"password": "Password must have 8 characters"',
    '"password": "Passwort"',
    'password VARCHAR(255) NOT NULL',
    'WHERE password = @password AND token = $1',
    'WWW-Authenticate: Bearer realm="example", error="invalid_token"',
    'basic understanding-of-things',
    'password: op://vault/item/field1',
    'arn:aws:secretsmanager:us-east-1:123456789012:secret:db-AbCdEf',
    'https://example.test:8443/a@b',
    'cmd --password-stdin --token-file /run/t1234567',
    'bypass: true1234',
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7fake user@host',
    '<label for="password">Password</label>',
    'docker run -v /etc/passwd:/etc/passwd:ro -v $PWD/token:/run/token:ro image',
    '/etc/passwd:root:x:0:0:root:/root:/bin/bash',
    '      - ./db_password:/run/secrets/db_password:ro',
    'a'.repeat(200),
    '0'.repeat(64),
    `ghp_${'x'.repeat(36)}`,
    `sk-ant-api03-${'x'.repeat(40)}`,
    'AKIAXXXXXXXXXXXXXXXX',
    'postgres://user:xxxxx@host/db',
    'user:${DB_PASSWORD}@tcp(host:3306)/db',
    'Authorization: Bearer $TOKEN',
    'Authorization: Bearer authentication',
    '#define sha1_digest nettle_sha1_digest',
    '"jsonwebtoken": "^9.0.2"',
    'Settings refer to it as `secret://NAME`',
    'secret: projects/one/secrets/two',
    'DSN=reporting',
    'sha256 cellar: :any, arm64_sonoma: "' + 'fa4e01b7'.repeat(8) + '"',
    'existingSecret: postgres-admin-prod',
    'https://example.test/list?key=customer-address-of-1999',
    'docker login registry.test -u me --password-stdin',
    'docker run -p 8080:8080 image',
    'docker run --name login -p 8080:80 nginx',
    'docker compose run login -p 3000:3000',
    'https://example.test/img?key=ProductImages-2024-summer-large-v2',
  ];
  for (const text of texts) test(text.slice(0, 60), () => assert.equal(scrub(text), text));
});

describe('what holds for every text', () => {
  const bit = fc.oneof(
    fc.constantFrom(
      'password',
      'token',
      'API_KEY',
      'secret',
      ': ',
      '=',
      '"',
      "'",
      ' ',
      '\n',
      '\\',
      ',',
      '&',
      '%3D',
      '<password>',
      '</password>',
      '--token ',
      'Bearer ',
      '://u:',
      '@',
      '[REDACTED]',
      'ghp_FAKEaB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3',
      'fa4e'.repeat(16),
      '-----BEGIN PRIVATE KEY-----\n',
      '-----END PRIVATE KEY-----',
      PASSWORD,
      KEY,
      'a',
      '1',
    ),
    fc.string({ maxLength: 6 }),
  );
  const text = fc.array(bit, { maxLength: 24 }).map((bits) => bits.join(''));

  test('a scrubbed text is left alone', () => {
    fc.assert(
      fc.property(text, (value) => {
        const once = scrub(value);
        assert.equal(scrub(once), once);
      }),
      { numRuns: 5_000 },
    );
  });

  test('what is found is counted, and nothing found is nothing changed', () => {
    fc.assert(
      fc.property(text, (value) => {
        const { text: scrubbed, found } = scrubText(value);
        assert.equal(found.length > 0, scrubbed !== value);
      }),
      { numRuns: 2_000 },
    );
    assert.deepEqual(scrubText(`password=${PASSWORD} ${`ghp_${'aB3'.repeat(12)} `.repeat(2)}`).found, [
      { kind: 'named_secret', count: 1 },
      { kind: 'github', count: 2 },
    ]);
  });

  // The corpus' own gate; a quadratic detector takes minutes here, so the machine's speed does not matter.
  const hostile: [string, number][] = [
    ...CORPUS.redos.map(({ repeat }) => repeat),
    ['-----BEGIN PRIVATE KEY-----', 40_000],
    ['"password":"', 80_000],
    ['a@b://c:', 100_000],
    ['token: \n', 100_000],
    ['password: a b ', 70_000],
    ['<a ', 300_000],
    ['cookie: a=', 90_000],
    ['name: token value', 60_000],
    ['\\', 1_000_000],
    ['f', 1_000_000],
    ['mysql -p', 120_000],
    ['jdbc:oracle:thin:', 60_000],
    ['\u001b[', 500_000],
    ['\u001b]8;', 250_000],
    ['^[]', 330_000],
    ['\\u001b', 160_000],
    ['a\u001b[0mb', 160_000],
    ['a\n\\n', 250_000],
    ['%25', 330_000],
    ['&amp;', 200_000],
    ['u:p@tcp(', 125_000],
    ['DSN="host=a password=b ', 40_000],
    ['Bearer 1', 125_000],
    [' login -p ', 100_000],
    ['docker login a ', 70_000],
    ['docker login -p ', 65_000],
    ['?key=', 200_000],
    [`?key=${KEY}~`, 30_000],
    [`"kty","d":"${KEY} `, 30_000],
    ['-fio-u-', 140_000],
    ['t1.-', 250_000],
    ['vercel_blob_rw_', 70_000],
  ];
  // A quadratic reading of one of them would take minutes.
  for (const [piece, times] of hostile)
    test(`${times} times ${JSON.stringify(piece)} ends`, { timeout: 60_000 }, () => {
      scrubText(piece.repeat(times), registerValues(['FAKE registered value']));
    });
});

test('a key of letters alone is hidden, and names that begin alike are not', () => {
  assert.equal(scrub('use sk-abcdefghijklmnopqrst now'), 'use [REDACTED] now');
  for (const kept of [
    'sk-learn-pipeline-with-feature-union',
    'risk-abcdefghijklmnopqrst',
    'sk-abcdefghijklmnopqrs',
  ])
    assert.equal(scrub(kept), kept);
});
