/**
 * VF-4: containment, denied prefixes, extra roots; GoClaw's rules (test/vectors/path.json) and a property over any
 * path.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { DEFAULT_PATH_RULES } from '#domain/files/path-rules.ts';
import { contains, isDenied, resolvePath } from '#activities/workspace/resolve-path.ts';
import { temporaryFolder, toolBench } from '#test/support/tool-call.ts';

const VECTORS = JSON.parse(await readFile(new URL('../../vectors/path.json', import.meta.url), 'utf8')) as {
  cases: readonly { name: string; path: string; expect: string }[];
};

/** Each case's prose as steps: the workspace, the requested path, and the rules. */
const STEPS: Record<string, (base: string) => Promise<{ path?: string; restrict?: boolean }>> = {
  'absolute outside': async () => ({}),
  'symlink in': async (base) => {
    await symlink(join(base, 'ws/hello.txt'), join(base, 'ws/good_link'));
    return {};
  },
  unrestricted: async (base) => {
    await mkdir(join(base, 'outside'));
    await writeFile(join(base, 'outside/hosts'), 'h');
    return { path: join(base, 'outside/hosts'), restrict: false };
  },
  'directory link count': async () => ({}),
  'denied prefix other file': async () => ({}),
  'sibling with shared prefix': async (base) => {
    await mkdir(join(base, 'wsc'));
    return { path: join(base, 'wsc') };
  },
  'team workspace not allowed': async (base) => ({ path: join(base, 'team/shared.txt') }),
  'dot segments': async () => ({}),
  'clawft traversal read': async () => ({}),
  'clawft write creates parents': async () => ({}),
};

describe('VF-4 path rules of upstream', () => {
  for (const { name, path, expect } of VECTORS.cases) {
    test(name, async (t) => {
      const base = await temporaryFolder(t);
      await mkdir(join(base, 'ws/subdir'), { recursive: true });
      await writeFile(join(base, 'ws/hello.txt'), 'hello');
      await writeFile(join(base, 'ws/subdir/nested.txt'), 'nested');
      const steps = STEPS[name];
      assert.ok(steps, `no steps for the case ${name}`);
      const { path: other, restrict = true } = await steps(base);
      const rules = { ...DEFAULT_PATH_RULES, deniedPrefixes: ['.goclaw'], restrict };
      const resolving = resolvePath(rules, join(base, 'ws'), other ?? path, 'read');
      if (expect === 'allow') assert.ok((await resolving).absolute.startsWith(base));
      else await assert.rejects(resolving, { name: 'FileProblem', code: 'InvalidPath' });
    });
  }
});

describe('VF-4 denied prefixes', () => {
  for (const path of [
    '.tempoclaw',
    '.tempoclaw/x',
    './.tempoclaw/x',
    'a/../.tempoclaw/x',
    '.goclaw/x',
    '.TempoClaw/x',
    'link/x',
  ]) {
    test(`${path} is refused`, async (t) => {
      const base = await temporaryFolder(t);
      await mkdir(join(base, '.tempoclaw'));
      await symlink('.tempoclaw', join(base, 'link'));
      await assert.rejects(resolvePath(DEFAULT_PATH_RULES, base, path, 'read'), { code: 'PermissionDenied' });
    });
  }

  test('a name that only begins alike is not denied', () => {
    assert.equal(isDenied(['.tempoclaw'], '.tempoclaw-notes/a'), false);
    assert.equal(isDenied(['.tempoclaw'], 'sub/.tempoclaw'), false);
    assert.equal(isDenied(['a/b/'], 'a/b/c'), true);
  });

  test('they are not listed', async (t) => {
    const bench = await toolBench(t);
    await mkdir(join(bench.workspace, '.tempoclaw'), { recursive: true });
    await writeFile(join(bench.workspace, 'seen.txt'), '');
    const { tool } = await import('#activities/tools/fs/list-files.ts');
    const result = await bench.run(tool, {});
    assert.equal(result.ok && result.text, 'seen.txt (0 bytes)');
  });
});

describe('VF-4 extra roots', () => {
  test('one may be read and, unless it is writable, not written', async (t) => {
    const base = await temporaryFolder(t);
    await mkdir(join(base, 'ws'));
    await mkdir(join(base, 'skills'));
    const path = join(base, 'skills/a.md');
    const rules = { ...DEFAULT_PATH_RULES, extraRoots: [{ path: join(base, 'skills'), writable: false }] };
    assert.equal((await resolvePath(rules, join(base, 'ws'), path, 'read')).absolute, path);
    await assert.rejects(resolvePath(rules, join(base, 'ws'), path, 'write'), { code: 'PermissionDenied' });
  });
});

describe('VF-4 for any path', () => {
  test('what is resolved is inside the workspace, links and dots as they may be', async (t) => {
    const base = await temporaryFolder(t);
    const workspace = join(base, 'ws');
    await mkdir(join(workspace, 'a/b'), { recursive: true });
    await mkdir(join(base, 'out'));
    await symlink('..', join(workspace, 'a/up'));
    await symlink('../..', join(workspace, 'a/out'));
    await symlink(join(base, 'out'), join(workspace, 'abs'));
    await symlink('loop', join(workspace, 'loop'));
    await symlink('a', join(workspace, 'in'));
    const part = fc.constantFrom(
      'a',
      'b',
      'up',
      'out',
      'abs',
      'in',
      'loop',
      '..',
      '.',
      '',
      'new',
      '...',
      'x\\..',
      '~',
    );
    const path = fc
      .tuple(fc.constantFrom('', '/', `${workspace}/`, `${base}/`), fc.array(part, { maxLength: 12 }))
      .map(([start, parts]) => start + parts.join('/'));
    await fc.assert(
      fc.asyncProperty(path, async (value) => {
        try {
          const { absolute } = await resolvePath(DEFAULT_PATH_RULES, workspace, value, 'read');
          assert.ok(contains(workspace, absolute), absolute);
        } catch (error) {
          assert.equal((error as Error).name, 'FileProblem', String(error));
        }
      }),
      { numRuns: 500 },
    );
  });
});
