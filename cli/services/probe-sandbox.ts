/**
 * Tries a box from inside, as an agent's command would: one with the settings of this installation, over a workspace that
 * is made for it and removed. Memory and processes are held small, so that filling them harms nobody.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '#config';
import { createBoxes, type Boxes } from '#activities/sandbox/boxes.ts';
import { createBoxedShell } from '#activities/sandbox/boxed-shell.ts';
import { createEngine } from '#activities/sandbox/engine.ts';
import { createEngineLook } from '#activities/sandbox/look-at-engine.ts';
import type { CommandOutcome, Shell } from '#activities/process/shell.ts';
import { type Sandbox, sandboxOf } from '#domain/sandbox.ts';

export interface ProbeResult {
  readonly check: string;
  /** What must hold. */
  readonly wanted: string;
  readonly ok: boolean;
  /** What was seen. */
  readonly seen: string;
}

interface Probe {
  readonly check: string;
  readonly wanted: string;
  readonly command: string;
  readonly timeoutMs?: number;
  readonly holds: (said: string, outcome: CommandOutcome) => boolean;
}

const PIDS = 64;
const MEMORY = 64 * 1_048_576;
const PROBE_MS = 20_000;
const SEEN_CHARS = 200;

const PROBES: readonly Probe[] = [
  { check: 'user', wanted: 'not root', command: 'id -u', holds: (said) => /^[1-9]\d*$/.test(said) },
  {
    check: 'rights',
    wanted: 'no capability, no new privileges, seccomp',
    command: 'grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status',
    holds: (said) => /^CapBnd:\s0+\nCapEff:\s0+\nNoNewPrivs:\s1\nSeccomp:\s2$/.test(sorted(said)),
  },
  {
    check: 'root folder',
    wanted: 'read-only',
    command:
      'for f in / /etc /usr /root /var; do (echo x >$f/.probe) 2>/dev/null && echo "wrote $f"; done; echo end',
    holds: (said) => said === 'end',
  },
  {
    check: 'kernel settings',
    wanted: 'read-only',
    command: 'f=/proc/sys/kernel/hostname; v=$(cat $f); (echo "$v" >$f) 2>/dev/null && echo wrote; echo end',
    holds: (said) => said === 'end',
  },
  {
    check: 'engine’s socket',
    wanted: 'not there',
    command: 'find / -xdev -type s 2>/dev/null; grep -c docker.sock /proc/mounts',
    holds: (said) => said === '0',
  },
  {
    check: 'temporary folder',
    wanted: 'writable, nothing runs from it',
    command:
      'printf "#!/bin/sh\\necho ran\\n" >/tmp/p && chmod +x /tmp/p && echo wrote; /tmp/p 2>/dev/null; rm /tmp/p',
    holds: (said) => said === 'wrote',
  },
  {
    check: 'environment',
    wanted: 'nothing of the worker’s',
    command: 'env | cut -d= -f1 | sort | tr "\\n" " "',
    holds: (said) => !/KEY|SECRET|PASSWORD|DATABASE_URL|DOCKER_HOST/.test(said),
  },
  {
    check: 'network',
    wanted: 'none',
    command: 'ls /sys/class/net | tr "\\n" " "',
    holds: (said) => said === 'lo',
  },
  {
    check: 'fork bomb',
    wanted: `stopped at ${PIDS} processes`,
    command: 'b() { b | b & }; b 2>/dev/null; sleep 20',
    timeoutMs: 3_000,
    holds: (_said, { ended }) => ended !== 'unboxed',
  },
  {
    check: 'after it',
    wanted: 'the next command runs',
    command: 'echo alive',
    holds: (said) => said === 'alive',
  },
  {
    check: 'memory',
    wanted: `stopped at ${MEMORY / 1_048_576} MiB`,
    command: 'head -c 256M /dev/zero | tail -n 1 | wc -c',
    holds: (said) => !/\d{9}/.test(said),
  },
  {
    check: 'after it',
    wanted: 'the next command runs',
    command: 'echo alive',
    holds: (said) => said === 'alive',
  },
  {
    check: 'time-out',
    wanted: 'ends it with what it started',
    command: '(setsid sleep 300 &); sleep 300',
    timeoutMs: 1_000,
    holds: (_said, { ended, note }) => ended === 'timeout' && note === undefined,
  },
];

/** A box's answers; the only one says why where there is none. */
export async function probeSandbox(config: Pick<Config, 'sandbox'>): Promise<readonly ProbeResult[]> {
  const engine = createEngine(config.sandbox.dockerHost);
  const boxes = createBoxes({
    engine,
    look: createEngineLook(engine, Date.now),
    installation: `probe-${randomUUID()}`,
    life: { idleSeconds: 60, maxAgeSeconds: 600 },
    now: Date.now,
  });
  const sandbox = probedSandbox(config);
  const look = await boxes.look(sandbox);
  if (!look.ok) return [{ check: 'box', wanted: 'can be made', ok: false, seen: look.reason }];
  const workspace = await mkdtemp(join(tmpdir(), 'tempoclaw-probe-'));
  const box = { sandbox, boxes, owner: { tenant: 'probe', agent: 'probe', sessionKey: 'probe', workspace } };
  try {
    return [...(await probeAll(box)), await probeWorkspace(box)];
  } finally {
    await boxes.remove(await boxes.obtain(box.owner, sandbox, look));
    await rm(workspace, { recursive: true, force: true });
  }
}

interface Probed {
  readonly sandbox: Sandbox;
  readonly boxes: Boxes;
  readonly owner: {
    readonly tenant: string;
    readonly agent: string;
    readonly sessionKey: string;
    readonly workspace: string;
  };
}

function probedSandbox({ sandbox }: Pick<Config, 'sandbox'>): Sandbox {
  const set = sandboxOf({ ...sandbox, network: false }, { mode: 'required', workspace: 'rw' });
  if (set === undefined) throw new Error('a required sandbox is never off');
  return { ...set, pids: PIDS, memoryBytes: MEMORY };
}

async function probeAll(box: Probed): Promise<ProbeResult[]> {
  const results: ProbeResult[] = [];
  for (const probe of PROBES) {
    const outcome = await runIn(box, probe.command, probe.timeoutMs ?? PROBE_MS);
    const said = `${outcome.stdout}${outcome.stderr}`.trim();
    const seen = (outcome.reason ?? (said === '' ? outcome.ended : said)).slice(0, SEEN_CHARS);
    results.push({ check: probe.check, wanted: probe.wanted, ok: probe.holds(said, outcome), seen });
  }
  return results;
}

async function probeWorkspace(box: Probed): Promise<ProbeResult> {
  const { workspace } = box.owner;
  await writeFile(join(workspace, 'host'), 'of the host');
  const { stdout } = await runIn(box, 'cat host; printf "of the box" >box', PROBE_MS);
  const made = await readFile(join(workspace, 'box'), 'utf8').catch(() => 'nothing');
  const ok = stdout === 'of the host' && made === 'of the box';
  return { check: 'workspace', wanted: 'the same files inside and outside', ok, seen: `${stdout}; ${made}` };
}

async function runIn(
  { sandbox, boxes, owner }: Probed,
  command: string,
  timeoutMs: number,
): Promise<CommandOutcome> {
  const shell = createBoxedShell({
    host: NO_HOST,
    boxes,
    bubblewrap: { works: async () => false },
    worker: 'probe',
    graceMs: 500,
  });
  return shell.run({
    command,
    cwd: owner.workspace,
    pwd: owner.workspace,
    timeoutMs,
    box: { sandbox, owner, inside: '', timeoutMs },
    callId: randomUUID(),
    signal: new AbortController().signal,
  });
}

/** A required sandbox never asks it. */
const NO_HOST: Shell = {
  run: async () => {
    throw new Error('a probe ran outside of the box');
  },
  workspacePath: async (workspace) => workspace,
  placeOf: async () => 'image',
  backgroundLine: async (line) => ({ ok: true, line }),
};

function sorted(lines: string): string {
  return lines.split('\n').toSorted().join('\n');
}
