/** The program that runs tools in Python: what it loads, what it seals, and what it says when it cannot start (IN-12, SC-3). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { openPayload, sealPayload } from '#domain/payload-seal.ts';
import { cleanEnvironment } from '#test/start/program.ts';
import { addPackageTo, PYTHON_PACKAGE, skipWithoutPython } from '#test/support/python.ts';
import { createChance } from '#test/support/seeded.ts';
import { loadFolder } from '../host/load-folder.ts';

const run = promisify(execFile);
const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'python-host-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  await addPackageTo(folder);
  return folder;
}

function toolOf(how: string, rest = 'return order', parameters = 'order: Annotated[str, "Its id"]'): string {
  return `from typing import Annotated
from tempoclaw import Context, tool
from pydantic import BaseModel, Field
@tool(${how})
def refund(${parameters}):
    """Refunds"""
    ${rest}
`;
}

async function testTool(folder: string, ...args: readonly string[]) {
  const command = ['bin/tempoclaw.js', 'tools', 'test', ...args, '--folder', folder];
  const {
    stdout,
    stderr,
    code = 0,
  } = await run(process.execPath, command, { env: cleanEnvironment() }).catch((error) => error);
  return { stdout, stderr, code };
}

const skip = await skipWithoutPython();

describe('IN-12 tools of a folder in Python', { skip, timeout: 200_000 }, () => {
  it('are the decorated functions of its files, with defaults, and change with what they import', async () => {
    const folder = await folderOf({
      'tools/refund.py': `import _shared, prices.today\n${toolOf('replay="once", approval=True')}`,
      'tools/_shared.py': 'X = 1',
      'prices/__init__.py': '',
      'prices/today.py': 'Y = 1',
      'tools/refund_test.py': 'raise ValueError("a test")',
      'tools/notes.md': 'text',
    });
    const { definitions, problems } = await loadFolder(folder);
    assert.deepEqual(problems, []);
    const [{ hash, ...definition } = assert.fail()] = definitions;
    assert.deepEqual(definition, {
      name: 'refund',
      language: 'python',
      description: 'Refunds',
      parameters: {
        type: 'object',
        properties: { order: { type: 'string', description: 'Its id' } },
        required: ['order'],
      },
      replay: 'once',
      probes: false,
      approval: true,
      outside: false,
      secrets: [],
      timeout_seconds: 60,
    });
    const seen = new Set([hash]);
    for (const file of ['tools/_shared.py', 'prices/today.py', 'tools/notes.md']) {
      writeFileSync(join(folder, file), 'Y = 2');
      seen.add((await loadFolder(folder)).definitions[0]?.hash ?? assert.fail());
    }
    assert.equal(seen.size, 3);
  });

  it('that are wrong are named with their line', async () => {
    const folder = await folderOf({
      'tools/syntax.py': 'from tempoclaw import tool\nx = 1 +\n',
      'tools/raises.py': 'import os\n\nos.nothing()\n',
      'tools/leaves.py': 'raise SystemExit(3)',
      'tools/bare.py': toolOf('replay="read"', 'return 1', 'order: str'),
      'tools/untyped.py': toolOf('replay="read"', 'return 1', 'order'),
      'tools/probed.py': toolOf('replay="read", probe=print'),
      'tools/other.py': toolOf('replay="sometimes"'),
      'tools/late.py': toolOf('replay="read", timeout=100_000'),
      'tools/none.py': 'x = 1',
      'tools/two.py': `${toolOf('replay="read"')}${toolOf('replay="read"').replaceAll('refund', 'second')}`,
      'tools/Bad-name.py': 'x = 1',
      'tools/both.py': toolOf('replay="read"'),
      'tools/both.ts': `import { tool, z } from 'tempoclaw';
export default tool({ description: 'x', input: z.object({}), replay: 'read', run: () => 1 });`,
    });
    const { problems } = await loadFolder(folder);
    const expected = [
      "tools/Bad-name.py: its name must be a-z, 0-9 and _, a letter first: it is the tool's name",
      /^tools\/bare\.py:4: order has no description; write order: Annotated/,
      /^tools\/late\.py:4: .*86400/,
      'tools/leaves.py:1: SystemExit: 3',
      'tools/none.py: it has no tool; put @tool(…) of tempoclaw above a function',
      'tools/other.py:4: replay must be "read", "idempotent" or "once"',
      'tools/probed.py:4: only a tool that may run once has a probe',
      "tools/raises.py:3: AttributeError: module 'os' has no attribute 'nothing'",
      'tools/syntax.py:2: SyntaxError: invalid syntax',
      'tools/two.py:11: it has two tools; a file has one, which is named as the file',
      'tools/untyped.py:4: order has no type; write order: Annotated[str, "…"]',
      'tools/both.py: another file makes a tool of this name',
    ];
    const sorted = [...problems].toSorted((a, b) => (a < b ? -1 : 1));
    for (const one of expected)
      assert.ok(
        sorted.some((problem) => (typeof one === 'string' ? problem === one : one.test(problem))),
        `${String(one)}\n${sorted.join('\n')}`,
      );
    assert.equal(sorted.length, expected.length, sorted.join('\n'));
  });

  it('take one pydantic model, nested ones without references, and names that Python uses', async () => {
    const models = `class Address(BaseModel):
    street: str
    title: str = "Mr"
class Order(BaseModel):
    home: Annotated[Address, Field(description="Where")]
    work: Annotated[Address | None, Field(description="Or here")] = None
`;
    const one = toolOf('replay="read"', 'return order.home', 'order: Order').replace(
      '@tool',
      `${models}@tool`,
    );
    const parameters = 'json: Annotated[int, "n"], copy: Annotated[str, "c"] = "x", context: Context = None';
    const folder = await folderOf({
      'tools/one.py': one,
      // The names of a module and of methods of pydantic.
      'tools/calendar.py': toolOf('replay="read"', 'return [json, copy]', parameters),
    });
    const { definitions, problems } = await loadFolder(folder);
    assert.deepEqual(problems, []);
    assert.doesNotMatch(JSON.stringify(definitions), /\$ref|\$defs|"title":"/);
    const called = await testTool(folder, 'one', '{"home":{"street":"Main"}}');
    assert.equal(called.stdout, '{"street":"Main","title":"Mr"}\n', called.stderr);
    assert.equal((await testTool(folder, 'calendar', '{"json":2}')).stdout, '[2,"x"]\n');
    assert.match((await testTool(folder, 'one', '{"home":{}}')).stdout, /^InvalidArgs: .*home\.street/);
  });

  it('are cut as JavaScript counts, and their half characters and errors arrive', async () => {
    const folder = await folderOf({
      'tools/long.py': toolOf('replay="read"', 'return "😀" * 400_000'),
      'tools/half.py': toolOf('replay="read"', 'return "a\\ud83d" + "\\ude00\\udc00"'),
      'tools/quits.py': toolOf('replay="read"', 'import sys; sys.exit(order)'),
      'tools/numbers.py': toolOf('replay="read"', 'return {"a": float("nan"), "b": {1}, "c": b"x"}'),
    });
    const { stdout } = await testTool(folder, 'long', '{"order":"1"}');
    assert.equal(stdout.trim(), `${'😀'.repeat(250_000)}\n[cut: it returned 800000 characters]`);
    const half = JSON.parse((await testTool(folder, 'half', '{"order":"1"}', '--json')).stdout);
    assert.equal(half.result.text, 'a😀\udc00');
    assert.match((await testTool(folder, 'quits', '{"order":"7"}')).stdout, /SystemExit: 7/);
    assert.equal(
      (await testTool(folder, 'numbers', '{"order":"1"}')).stdout,
      '{"a":null,"b":[1],"c":"eA=="}\n',
    );
  });

  it('take effect once at each point of a kill when the probe finds what has happened', async () => {
    const body = `open(LOG, "a").write(order + "\\n"); return "Done " + order`;
    const tool = toolOf('replay="once", probe=find', body);
    const head = `from pathlib import Path
LOG = str(Path(__file__).parent.parent / "log")
def find(order):
    return "Done " + order if Path(LOG).exists() and order in Path(LOG).read_text().split() else None
`;
    const folder = await folderOf({
      'tools/refund.py': head + tool,
      'tools/blind.py': head + tool.replace('probe=find', 'probe=lambda: None'),
    });
    const verdicts = JSON.parse(
      (await testTool(folder, 'refund', '{"order":"{n}"}', '--kill', '--json')).stdout,
    );
    assert.deepEqual(
      verdicts.map(({ point, outcome: { ended, probes, result } }: any) => [
        point,
        ended,
        probes,
        result.text,
      ]),
      [
        ['not killed', 1, 0, 'Done 1'],
        ['killed before it runs', 1, 1, 'Done 2'],
        ['killed after it has run', 1, 1, 'Done 3'],
      ],
    );
    const blind = await testTool(folder, 'blind', '{"order":"b{n}"}', '--kill');
    assert.equal(blind.code, 1);
    assert.match(blind.stdout, /it ran to its end 2 times: its probe returned nothing/);
  });

  it('say what to run when Python or the package is missing', async () => {
    const folder = await folderOf({ 'tools/refund.py': toolOf('replay="read"') });
    const python = join(folder, '.venv/bin/python');
    const stub = (script: string): void => writeFileSync(python, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    stub(`echo "$0: No module named tempoclaw" >&2; exit 1`);
    const absent = await testTool(folder, 'refund', '{}');
    assert.match(absent.stderr, /has no package tempoclaw/);
    assert.ok(absent.stderr.includes(`${python} -m pip install ${PYTHON_PACKAGE}`), absent.stderr);
    stub(`echo '{"version":"0.0.1","tools":[],"problems":[]}'`);
    assert.match((await testTool(folder, 'refund', '{}')).stderr, /has the version 0\.0\.1; .* is needed/);
    rmSync(join(folder, '.venv'), { recursive: true });
    const command = ['bin/tempoclaw.js', 'tools', 'test', 'refund', '{}', '--folder', folder];
    const nowhere = await run(process.execPath, command, {
      env: { ...cleanEnvironment(), PATH: folder },
    }).catch((error) => error);
    assert.match(nowhere.stderr, /there is no python3.*\n.*python3 -m venv/);
  });
});

describe('SC-3 payloads of tools in Python', { skip }, () => {
  it('are sealed byte by byte as in TypeScript, and open there and here', async () => {
    const { between } = createChance(20_261_129);
    const letters = ['a', '"', '\\', '\n', '\u0001', '\u007f', 'é', '\u2028', '😀', '\ud83d', '\ude00', '/'];
    const pick = <Item>(items: readonly Item[]): Item => items[between(0, items.length - 1)] as Item;
    const text = (): string => Array.from({ length: between(0, 11) }, () => pick(letters)).join('');
    const valueOf = (depth: number): unknown => {
      const kind = between(0, depth > 3 ? 3 : 5);
      if (kind < 2) return text();
      if (kind === 2) return between(-1, 1) * between(0, 2 ** 52);
      if (kind === 3) return pick([true, false, null]);
      const parts = Array.from({ length: between(0, 3) }, () => valueOf(depth + 1));
      return kind === 4 ? parts : Object.fromEntries(parts.map((part, n) => [`k${n}${text()}`, part]));
    };
    const key = crypto.getRandomValues(new Uint8Array(32));
    const cases = await Promise.all(
      Array.from({ length: 300 }, async (_, n) => {
        const iv = crypto.getRandomValues(new Uint8Array(12));
        const value = valueOf(0);
        const place = `tool/t/call_${n}/1/${text()}`.toWellFormed();
        const sealed = Buffer.from(await sealPayload(key, place, iv, value)).toString('base64');
        return { value, place, sealed, iv: Buffer.from(iv).toString('base64') };
      }),
    );
    const program = `import base64, json, sys
from tempoclaw.seal import open_payload, seal_payload
key, cases = json.load(open(sys.argv[1]))
decode = base64.b64decode
same = 0
made = []
for one in cases:
    value = open_payload(decode(key), one["place"], decode(one["sealed"]))
    assert value == one["value"], one
    again = seal_payload(decode(key), one["place"], value, decode(one["iv"]))
    same += again == decode(one["sealed"])
    made.append(base64.b64encode(seal_payload(decode(key), one["place"], value)).decode())
    try:
        open_payload(decode(key), one["place"] + "x", decode(one["sealed"]))
    except Exception:
        continue
    raise AssertionError("it opens elsewhere")
print(json.dumps({"same": same, "made": made}))`;
    const folder = await folderOf({
      'cases.json': JSON.stringify([Buffer.from(key).toString('base64'), cases]),
      'program.py': program,
    });
    const { stdout } = await run(join(folder, '.venv/bin/python'), [
      join(folder, 'program.py'),
      join(folder, 'cases.json'),
    ]);
    const { same, made } = JSON.parse(stdout);
    assert.equal(same, cases.length);
    for (const [n, { place, value }] of cases.entries())
      assert.deepEqual(await openPayload(key, place, new Uint8Array(Buffer.from(made[n], 'base64'))), value);
  });
});
