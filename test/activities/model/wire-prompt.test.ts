import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { createWireNames } from '#activities/model/wire-names.ts';
import { wirePrompt } from '#activities/model/wire-prompt.ts';
import type { ChatMessage } from '#domain/turn/message.ts';

const NAMES = createWireNames(['read_file']);

const text = fc.constantFrom('', ' ', 'words', 'more words ');
const callIds = fc.uniqueArray(fc.constantFrom('call_a.0.0', 'call_a.0.1', 'call_a.1.0', 'call_b.0.0'), {
  maxLength: 3,
});
const anyMessage: fc.Arbitrary<ChatMessage> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), text }),
  fc.record({
    role: fc.constant('assistant' as const),
    text,
    calls: callIds.map((ids) => ids.map((id) => ({ id, name: 'read_file', args: {} }))),
  }),
  fc.record({
    role: fc.constant('tool' as const),
    results: callIds.map((ids) =>
      ids.map((callId) => ({ callId, name: 'read_file', ok: true, text: `of ${callId}` })),
    ),
  }),
);

interface Part {
  readonly type: string;
  readonly toolCallId?: string;
  readonly text?: string;
}

describe('MO-1 a prompt made from any transcript', () => {
  test('begins and ends on the user’s side, and no assistant message follows another', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), (messages) => {
        const roles = wirePrompt(messages, NAMES).map((message) => message.role);
        assert.equal(roles[0], 'user');
        assert.notEqual(roles.at(-1), 'assistant');
        for (const [index, role] of roles.entries()) {
          if (role === 'assistant') assert.notEqual(roles[index - 1], 'assistant');
        }
      }),
    );
  });

  test('has each call followed at once by exactly its results, under unique ids that every provider takes', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), (messages) => {
        const prompt = wirePrompt(messages, NAMES);
        const seen = new Set<string>();
        for (const [index, message] of prompt.entries()) {
          if (message.role === 'tool') assert.equal(prompt[index - 1]?.role, 'assistant');
          if (message.role !== 'assistant') continue;
          const ids = (message.content as Part[]).flatMap((part) => part.toolCallId ?? []);
          for (const id of ids) {
            assert.match(id, /^[A-Za-z0-9_-]{1,40}$/);
            assert.equal(seen.has(id), false);
            seen.add(id);
          }
          const next = prompt[index + 1];
          const results =
            next?.role === 'tool' ? (next.content as Part[]).map((part) => part.toolCallId) : [];
          assert.deepEqual(results, ids);
        }
      }),
    );
  });

  test('has no empty text', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), (messages) => {
        for (const message of wirePrompt(messages, NAMES)) {
          const parts =
            typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
          assert.ok(parts.length > 0);
          for (const part of parts as Part[])
            if (part.type === 'text') assert.notEqual(part.text?.trim(), '');
        }
      }),
    );
  });

  test('keeps what every user message and every result says', () => {
    const messages: ChatMessage[] = [
      {
        role: 'tool',
        results: [{ callId: 'call_gone', name: 'exec', ok: true, text: 'kept of a cut call' }],
      },
      { role: 'user', text: 'first' },
      { role: 'assistant', text: '', calls: [{ id: 'call_a', name: 'read_file', args: {} }] },
      { role: 'user', text: 'steered before the result' },
      { role: 'tool', results: [{ callId: 'call_a', name: 'read_file', ok: true, text: 'late result' }] },
    ];
    const shown = JSON.stringify(wirePrompt(messages, NAMES));
    for (const kept of ['kept of a cut call', 'first', 'steered before the result', 'late result']) {
      assert.ok(shown.includes(kept), kept);
    }
  });

  test('says of a call without a result that it was stopped', () => {
    const messages: ChatMessage[] = [
      { role: 'user', text: 'go' },
      { role: 'assistant', text: '', calls: [{ id: 'call_a', name: 'read_file', args: {} }] },
      { role: 'user', text: 'and now?' },
    ];
    assert.match(JSON.stringify(wirePrompt(messages, NAMES)), /turn was stopped before this call ended/);
  });
});

describe('MO-1 tool names on the wire', () => {
  test('any names map one to one to names that every provider takes', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 120 }), { maxLength: 20 }),
        (offered) => {
          const names = createWireNames(offered);
          for (const name of offered) {
            assert.match(names.toWire(name), /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
            assert.equal(names.fromWire(names.toWire(name)), name);
          }
        },
      ),
    );
  });

  test('a plain name keeps its own wire name when an odd one would clean to it', () => {
    const names = createWireNames(['a.b', 'a_b']);
    assert.equal(names.toWire('a_b'), 'a_b');
    assert.equal(names.fromWire('a_b'), 'a_b');
    assert.notEqual(names.toWire('a.b'), 'a_b');
  });
});
