/** Every form of an address (vectors/urls.json), lists of domains, and properties over all addresses. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { matchHost } from '../src/rules/match-host.ts';
import { judgeAddresses, judgeUrl, type UrlRules, type UrlVerdict, useOf } from '@tempoclaw/egress/rules';

interface Case {
  readonly url: string;
  readonly is: string;
  readonly dns?: Readonly<Record<string, readonly string[]>>;
}

const { cases } = JSON.parse(readFileSync(new URL('vectors/urls.json', import.meta.url), 'utf8')) as {
  cases: readonly Case[];
};

/** Like a fetch: judges the name, then what it resolves to. */
function judge(url: string, dns: Case['dns'] = {}, rules: UrlRules = {}): UrlVerdict {
  const verdict = judgeUrl(url, rules);
  if (verdict.decision === 'deny' || verdict.address !== undefined) return verdict;
  return judgeAddresses(verdict, dns[verdict.host] ?? ['93.184.215.14'], rules);
}

describe('addresses and the rule that decides', () => {
  for (const { url, is, dns } of cases)
    test(`${JSON.stringify(url)} ${dns ? JSON.stringify(dns) : ''}: ${is}`, () => {
      const verdict = judge(url, dns);
      assert.equal(verdict.rule, is, verdict.reason);
      assert.equal(verdict.decision, is === 'public' ? 'allow' : 'deny');
    });
});

describe('what an allowed address says', () => {
  test('where to dial: the address that was judged, the canonical host and the port', () => {
    const verdict = judge('https://EXAMPLE.com./a b'.replace(' ', '%20'));
    assert.deepEqual(verdict, {
      decision: 'allow',
      rule: 'public',
      reason: '93.184.215.14 is a public address',
      url: 'https://example.com./a%20b',
      host: 'example.com',
      port: 443,
      address: '93.184.215.14',
    });
    const literal = judge('http://0x08080808:8080/');
    assert.ok(literal.decision === 'allow');
    assert.deepEqual([literal.address, literal.port], ['8.8.8.8', 8080]);
  });

  test('a name alone is not enough: without its addresses there is nothing to dial', () => {
    const verdict = judgeUrl('https://example.com/');
    assert.ok(verdict.decision === 'allow');
    assert.equal(verdict.address, undefined);
  });
});

describe('lists of domains', () => {
  const decide = (url: string, rules: UrlRules, dns?: Case['dns']) => judge(url, dns, rules).rule;

  test('a blocked domain is blocked with all below it, also when it is allowed', () => {
    const rules: UrlRules = {
      domains: [{ blocked_domains: ['Evil.com'], policy: 'allowlist', allowed_domains: ['evil.com'] }],
    };
    assert.equal(decide('https://evil.com/x', rules), 'blocked_domain');
    assert.equal(decide('https://a.evil.com./', rules), 'blocked_domain');
    assert.equal(decide('https://notevil.com/', { domains: [{ blocked_domains: ['evil.com'] }] }), 'public');
  });

  test('names outside of ASCII are compared in the form that a request has', () => {
    const blocked: UrlRules = { domains: [{ blocked_domains: ['Bücher.example', ' böse.example '] }] };
    for (const url of [
      'https://bücher.example/',
      'https://xn--bcher-kva.example/',
      'https://a.böse.example/',
    ])
      assert.equal(decide(url, blocked), 'blocked_domain', url);
    assert.equal(decide('https://bucher.example/', blocked), 'public');
    const listed: UrlRules = { domains: [{ policy: 'allowlist', allowed_domains: ['*.bücher。example'] }] };
    assert.equal(decide('https://a.xn--bcher-kva.example/', listed), 'public');
    assert.equal(decide('https://xn--bcher-kva.example.net/', listed), 'not_listed');
  });

  test('an IPv6 address is found in a list however it is spelled', () => {
    for (const written of ['2606:4700::1', '[2606:4700::1]', '2606:4700:0:0::0:1', ' 2606:4700::0001. ']) {
      assert.equal(
        decide('http://[2606:4700::1]/', { domains: [{ blocked_domains: [written] }] }),
        'blocked_domain',
        written,
      );
      assert.equal(decide('http://[2606:4700::2]/', { domains: [{ blocked_domains: [written] }] }), 'public');
    }
  });

  test('an allowlist lets only its own through, by name or below it', () => {
    const rules: UrlRules = {
      domains: [{ policy: 'allowlist', allowed_domains: ['github.com', '*.example.com'] }],
    };
    assert.equal(decide('https://github.com/a', rules), 'public');
    assert.equal(decide('https://api.example.com/', rules), 'public');
    for (const url of ['https://gitlab.com', 'https://github.com.evil.com/', 'https://8.8.8.8/'])
      assert.equal(decide(url, rules), 'not_listed', url);
    assert.equal(
      decide('https://github.com/', rules, { 'github.com': ['10.0.0.1'] }),
      'private',
      'a list of names opens no private net',
    );
  });

  test('a host of one’s own net may be named, on any port; metadata never', () => {
    const rules: UrlRules = { internalHosts: ['internal.corp', 'metadata.google.internal', '10.1.2.3'] };
    const dns = { 'internal.corp': ['10.0.0.3'] };
    assert.equal(decide('http://internal.corp:5432/api', rules, dns), 'internal_host');
    assert.equal(decide('http://10.1.2.3/', rules), 'internal_host');
    assert.equal(decide('http://10.1.2.4/', rules), 'private');
    assert.equal(decide('http://metadata.google.internal/', rules), 'metadata');
    assert.equal(
      decide('http://internal.corp/', rules, { 'internal.corp': ['169.254.169.254'] }),
      'metadata',
    );
  });

  test('private addresses may be opened as a whole; metadata, link-local and reserved ones never', () => {
    const rules: UrlRules = { allowPrivate: true };
    for (const url of ['http://10.0.0.1/api', 'http://127.0.0.1/', 'http://[fd00::1]/'])
      assert.equal(decide(url, rules), 'private_allowed', url);
    assert.equal(decide('http://temporal:8080/', rules, { temporal: ['172.18.0.4'] }), 'private_allowed');
    assert.equal(decide('http://169.254.169.254/', rules), 'metadata');
    assert.equal(decide('http://169.254.1.1/', rules), 'link_local');
    assert.equal(decide('http://0.0.0.0/', rules), 'reserved');
  });

  test('a port is opened by name', () => {
    assert.equal(decide('http://example.com:22/', {}), 'port');
    assert.equal(decide('http://example.com:22/', { allowedPorts: [22] }), 'public');
  });
});

describe('what holds for every address', () => {
  const byte = fc.nat({ max: 255 });
  const v4 = fc.tuple(byte, byte, byte, byte);

  test('each way to write an IPv4 address is judged like its dotted form', () => {
    fc.assert(
      fc.property(v4, ([a, b, c, d]) => {
        const use = useOf(`${a}.${b}.${c}.${d}`);
        const number = ((a * 256 + b) * 256 + c) * 256 + d;
        const octal = [a, b, c, d].map((part) => `0${part.toString(8)}`).join('.');
        for (const host of [
          `${number}`,
          `0x${number.toString(16)}`,
          octal,
          `${a}.${b}.${c * 256 + d}`,
          `[::ffff:${a}.${b}.${c}.${d}]`,
          `[64:ff9b::${a}.${b}.${c}.${d}]`,
        ])
          assert.equal(judgeUrl(`http://${host}/`).rule, use, host);
      }),
    );
  });

  test('an address with one answer that is not public is denied, whichever it is', () => {
    const verdict = judgeUrl('https://example.com/');
    assert.ok(verdict.decision === 'allow');
    fc.assert(
      fc.property(fc.array(v4, { minLength: 1, maxLength: 5 }), (answers) => {
        const texts = answers.map((parts) => parts.join('.'));
        const isPublic = texts.every((text) => useOf(text) === 'public');
        assert.equal(judgeAddresses(verdict, texts).decision, isPublic ? 'allow' : 'deny');
      }),
    );
  });

  test('no text makes it throw, and what it allows has a host and a port', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl()), (text) => {
        const verdict = judgeUrl(text);
        if (verdict.decision === 'allow') assert.ok(verdict.host !== '' && verdict.port > 0);
        else assert.ok(verdict.reason !== '');
      }),
    );
  });

  test('a pattern of hosts means the same as the regular expression', () => {
    const text = (...characters: string[]) =>
      fc.array(fc.constantFrom(...characters), { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text('a', 'b', '.', '*', '?'), text('a', 'b', '.'), (pattern, host) => {
        const source = pattern.replaceAll('.', String.raw`\.`).replaceAll('*', '.*').replaceAll('?', '.');
        assert.equal(matchHost(pattern, host), new RegExp(`^${source}$`).test(host));
      }),
    );
  });
});
