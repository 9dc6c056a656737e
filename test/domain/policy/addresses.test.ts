import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressesIn, addressesOf } from '#domain/policy/addresses.ts';

describe('PO-5 addresses', () => {
  it('are found in the words of a person, in one spelling', () => {
    const text =
      'See https://Pub.example/a/b/?q=1#top, <http://x.example:8080>, (docs.example/x_(y)) and “käse.example/ä”. Mail ann@mail.example; v1.2.3, e.g. this.';
    assert.deepEqual(addressesIn(text).slice(0, 5), [
      'pub.example/a/b?q=1#top',
      'pub.example/a/b?q=1',
      'x.example:8080',
      'docs.example/x',
      'xn--kse-qla.example/%C3%A4',
    ]);
  });

  it('of a call are its texts as they stand, at any depth, and those within texts', () => {
    const args = {
      url: ' HTTPS://Evil.example/a b"c?d#e',
      list: [{ note: 'go to http://b.example/x now' }, 3, null],
    };
    assert.deepEqual(addressesOf(args), ['evil.example/a%20b%22c?d#e', 'b.example/x']);
  });

  it('with a name and password in them are none that anybody wrote plainly', () => {
    assert.deepEqual(addressesOf('https://secret:x@a.example/'), ['secret:x@a.example']);
    assert.ok(!addressesIn('a.example').includes('secret:x@a.example'));
  });

  it('end within a bound, whatever the text', () => {
    assert.ok(addressesIn('a.b '.repeat(200_000)).length <= 500);
    assert.deepEqual(addressesIn(`a.${'-'.repeat(200_000)}`), []);
    addressesIn('a.'.repeat(200_000));
    addressesIn(`${'a.'.repeat(4_000)}! `.repeat(50));
    addressesIn('http://'.repeat(100_000));
    for (const part of ['a.', 'http://', 'a.b/', 'x@', '1.2.3.4:', '[', '//'])
      for (const text of [part.repeat(200_000), `${part.repeat(3_000)} `.repeat(50)])
        assert.ok(addressesOf({ text }).length <= 10_001);
  });
});
