/** DU-5: runs of one thread share the modules of the workflows, so none of these may store anything of a run. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '#test/support/tool-call.ts';
import { bundleWorkflows, loadWorkflowBundle } from '#workers/bundle.ts';
import { FEATURES } from '#features';

const ROOT = join(import.meta.dirname, '../..');

/** Lines without indentation are in module scope, as the formatter writes them. */
const KEEPERS: readonly RegExp[] = [
  /^(?:export )?(?:let|var) (\w+)/,
  /^(?:export )?const (\w+)(?:: (?!Readonly)[^=]+)? = new (?:Weak)?(?:Map|Set)\b/,
  /^(?:export )?const (\w+)(?:: [^=]+)? = \/.*\/\w*[gy]\w*;$/,
];

/** What would store something: a variable, a collection that can be added to, a regex with a position. */
function statesOf(file: string, text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const name = KEEPERS.map((keeper) => keeper.exec(line)?.[1]).find((found) => found !== undefined);
    return name === undefined ? [] : [`${file}: ${name}`];
  });
}

describe('DU-5 the modules of the workflows', () => {
  let code: string;
  before(async () => {
    ({ code } = await bundleWorkflows(FEATURES));
  });

  it('keep nothing in module scope', async () => {
    const files = Array.from(
      code.matchAll(/!\*\*\* \.\/((?:domain|features|packages|workflows)\/\S+\.ts)/g),
      ([, file]) => file ?? '',
    );
    assert.ok(files.includes('workflows/agent-turn.ts') && files.includes('domain/turn/turn-inbox.ts'));
    const texts = files.map(async (file) => statesOf(file, await readFile(join(ROOT, file), 'utf8')));
    assert.deepEqual((await Promise.all(texts)).flat(), []);
  });

  it('are shown when they would', () => {
    const text = `let count = 0;
const seen = new Map<string, number>();
const known: ReadonlySet<string> = new Set(['a']);
const PLACE = /a/g;
const PLAIN = /a/;
`;
    assert.deepEqual(statesOf('one.ts', text), ['one.ts: count', 'one.ts: seen', 'one.ts: PLACE']);
  });

  it('may import the packages that are pure', async (t) => {
    const file = join(await temporaryFolder(t), 'workflow.ts');
    await writeFile(file, "export { scrubText } from '@tempoclaw/scrubber';\n");
    const bundle = await bundleWorkflows([{ workflows: [pathToFileURL(file)] }]);
    assert.match(bundle.code, /!\*\*\* \.\/packages\/scrubber\/src\/scrub-text\.ts/);
  });

  it('are also those of an installation’s own features, and change with them', async (t) => {
    const folder = await temporaryFolder(t);
    const file = join(folder, 'workflow.ts');
    await writeFile(
      file,
      "import { sleep } from '@temporalio/workflow';\nexport async function remind(): Promise<void> { await sleep('1s'); }\n",
    );
    const load = (digest: string) =>
      loadWorkflowBundle(join(folder, 'cache'), [
        { workflows: [pathToFileURL(file)], own: { folder, digest } },
      ]);
    const { bundle, buildId } = await load('one');
    assert.ok('code' in bundle && /async function remind\(/.test(bundle.code));
    assert.equal((await load('one')).buildId, buildId);
    assert.notEqual((await load('two')).buildId, buildId);
  });
});
