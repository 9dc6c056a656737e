/** What is a skill here is also one for the open format's own validator, and what is none there is none here. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { childEnvironment } from '#config';
import { readSkill } from '#features/skills/policy/read-skill.ts';
import { pythonWith } from '#test/support/python.ts';
import { SKILL_CASES } from '#test/support/skill-texts.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

const VALIDATE = `
import json, sys
from pathlib import Path
from skills_ref.validator import validate
print(json.dumps([validate(Path(folder)) for folder in sys.argv[1:]]))
`;

// This may be omitted only if Python itself is missing, and never on CI.
const python = await pythonWith('skills-ref==0.1.1').catch((error: Error) => error);
const skip =
  python instanceof Error && process.env['CI'] !== 'true'
    ? `no Python with skills-ref: ${python.message}`
    : false;

describe('TL skills and the validator of the open format', { skip }, () => {
  it('agree on each folder but on the words of other seeds', async (t) => {
    if (python instanceof Error) throw python;
    const top = await temporaryFolder(t);
    const folders: string[] = [];
    for (const [index, { folder, text }] of SKILL_CASES.entries()) {
      const path = join(top, String(index), folder);
      await mkdir(path, { recursive: true });
      await writeFile(join(path, 'SKILL.md'), text);
      folders.push(path);
    }
    const { stdout } = await promisify(execFile)(python, ['-c', VALIDATE, ...folders], {
      env: childEnvironment({ PYTHONUTF8: '1' }),
    });
    const theirs = JSON.parse(stdout) as string[][];
    const verdicts = SKILL_CASES.map(({ what, folder, text, isOurs = false }, index) => ({
      what,
      theirs: theirs[index]?.length === 0,
      ours: readSkill(text, folder).ok !== isOurs,
    }));
    for (const { what, ours, theirs: verdict } of verdicts) assert.equal(ours, verdict, what);
    assert.deepEqual(
      verdicts.map(({ theirs: verdict }) => verdict),
      SKILL_CASES.map(({ isGood }) => isGood),
    );
  });
});
