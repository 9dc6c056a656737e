import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkedArtifacts } from '#domain/files/linked-artifacts.ts';

const A = `art_${'a'.repeat(32)}`;
const B = `art_${'b'.repeat(32)}`;

describe('IN-4 files that an answer links to', () => {
  it('an answer sends those that it links to, each once, and shows no address of theirs', () => {
    const markdown = `Here is [the plan](artifact:${A}), again: [it](artifact:${A}).\n\n![](artifact:${B})\nDone.`;
    assert.deepEqual(linkedArtifacts(markdown), {
      markdown: 'Here is the plan, again: it.\n\nDone.',
      ids: [A, B],
    });
    assert.deepEqual(linkedArtifacts(`[only](artifact:${A})`), { markdown: '', ids: [A] });
  });

  it('what is no link to an artifact, or stands in code, is said as it is', () => {
    const markdown = `artifact:${A}, [x](https://a.example/${A})\n\`\`\`\n[y](artifact:${B})\n\`\`\``;
    assert.deepEqual(linkedArtifacts(markdown), { markdown, ids: [] });
  });

  it('an answer sends ten at most', () => {
    const links = Array.from({ length: 12 }, (_, at) => `[x](artifact:art_${String(at).padStart(32, '0')})`);
    assert.equal(linkedArtifacts(links.join(' ')).ids.length, 10);
  });
});
