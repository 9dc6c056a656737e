/**
 * Tests a box from inside, as an agent's command would see it. The box has the settings of this installation and a
 * temporary workspace. Its memory and processes are limited to little, so that filling them harms nobody.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandFolders, type Config } from '#config';
import { commandEnvironment } from '@tempoclaw/sandbox/settings';
import { boxOwner } from '#activities/process/box-owner.ts';
import { BOX_BOUNDS, MAKE_IMAGE, OWN_NAME } from '#activities/process/own-names.ts';
import {
  createBoxes,
  createBubblewrap,
  createBoxedShell,
  createEngine,
  createEngineProber,
  refusedNumber,
  type CommandOutcome,
  type CommandRequest,
  createShell,
  type Shell,
} from '@tempoclaw/sandbox';
import { type Sandbox, sandboxOf } from '#domain/sandbox.ts';

export interface ProbeResult {
  readonly check: string;
  /** What must hold. */
  readonly expected: string;
  readonly ok: boolean;
  /** What the probe observed. */
  readonly seen: string;
}

interface Probe {
  readonly check: string;
  readonly expected: string;
  readonly command: string;
  readonly timeoutMs?: number;
  /** True for a container's limits, which bubblewrap does not have. */
  readonly containerOnly?: true;
  readonly holds: (text: string, outcome: CommandOutcome) => boolean;
}

const PIDS = 64;
const MEMORY = 64 * 1_048_576;
const PROBE_MS = 20_000;
const SEEN_CHARS = 200;

/** Each call has no effect with the arguments of the test. 1 and 38 are EPERM and ENOSYS. */
const CALLS = Object.fromEntries(
  ['mount', 'keyctl', 'bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup'].map((name) => [
    name,
    refusedNumber(name, process.arch === 'arm64' ? 'arm64' : 'x64'),
  ]),
);

const AFTER_IT: Probe = {
  check: 'after it',
  containerOnly: true,
  expected: 'the next command runs',
  command: 'echo alive',
  holds: (text) => text === 'alive',
};

const PROBES: readonly Probe[] = [
  {
    check: 'user',
    expected: 'not root',
    command: 'id -u',
    containerOnly: true,
    holds: (text) => /^[1-9]\d*$/.test(text),
  },
  {
    check: 'rights',
    expected: 'no capability, no new privileges, seccomp',
    command: 'grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status',
    holds: (text) => /^CapBnd:\s0+\nCapEff:\s0+\nNoNewPrivs:\s1\nSeccomp:\s2$/.test(sorted(text)),
  },
  {
    check: 'descriptors',
    expected: 'only its own three',
    // The fourth descriptor is that of ls itself.
    command: 'ls /proc/self/fd | tr "\\n" " "',
    holds: (text) => text === '0 1 2 3',
  },
  {
    check: 'user namespaces',
    expected: 'cannot be made',
    command:
      'if command -v unshare >/dev/null; then unshare -U echo made 2>/dev/null; else echo untried; fi; echo end',
    holds: (text) => /^(?:untried\n)?end$/.test(text),
  },
  {
    check: 'kernel calls',
    expected: `refused: ${Object.keys(CALLS).join(', ')}`,
    command: `command -v perl >/dev/null || { echo untried; exit; }; ${Object.entries(CALLS)
      .map(
        ([name, number]) =>
          `perl -e 'exit(syscall(${number}, 0, 0, 0, 0, 0) >= 0 || ($! != 1 && $! != 38))' || echo ${name}`,
      )
      .join('; ')}; echo end`,
    holds: (text) => text === 'end' || text === 'untried',
  },
  {
    check: 'root folder',
    expected: 'read-only',
    command:
      'for f in / /etc /usr /root /var; do (echo x >$f/.probe) 2>/dev/null && echo "wrote $f"; done; echo end',
    holds: (text) => text === 'end',
  },
  {
    check: 'kernel settings',
    expected: 'read-only',
    command: 'f=/proc/sys/kernel/hostname; v=$(cat $f); (echo "$v" >$f) 2>/dev/null && echo wrote; echo end',
    holds: (text) => text === 'end',
  },
  {
    check: 'engine’s socket',
    expected: 'not there',
    command: 'find / -xdev -type s 2>/dev/null; grep -c docker.sock /proc/mounts',
    holds: (text) => text === '0',
  },
  {
    check: 'temporary folder',
    containerOnly: true,
    expected: 'writable, nothing runs from it',
    command:
      'printf "#!/bin/sh\\necho ran\\n" >/tmp/p && chmod +x /tmp/p && echo wrote; /tmp/p 2>/dev/null; rm /tmp/p',
    holds: (text) => text === 'wrote',
  },
  {
    check: 'environment',
    expected: 'nothing of the worker’s',
    command: 'env | cut -d= -f1 | sort | tr "\\n" " "',
    // Git's settings in the environment have numbered names with KEY in them.
    holds: (text) =>
      !/KEY|SECRET|PASSWORD|DATABASE_URL|DOCKER_HOST/.test(text.replaceAll(/\bGIT_CONFIG_KEY_\d+\b/g, '')),
  },
  {
    check: 'network',
    expected: 'none',
    command: 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "',
    holds: (text) => text === 'lo',
  },
  {
    check: 'fork bomb',
    containerOnly: true,
    expected: `stopped at ${PIDS} processes`,
    command: 'b() { b | b & }; b 2>/dev/null; sleep 20',
    timeoutMs: 3_000,
    holds: (_text, { ended }) => ended !== 'unboxed',
  },
  AFTER_IT,
  {
    check: 'memory',
    containerOnly: true,
    expected: `stopped at ${MEMORY / 1_048_576} MiB`,
    command: 'head -c 256M /dev/zero | tail -n 1 | wc -c',
    holds: (text) => !/\d{9}/.test(text),
  },
  AFTER_IT,
  {
    check: 'time-out',
    expected: 'ends it with what it started',
    command: '(setsid sleep 300 &); sleep 300',
    timeoutMs: 1_000,
    holds: (_text, { ended, note }) => ended === 'timeout' && note === undefined,
  },
];

/** The results of a box. If there is no box, the only result says why. */
export async function probeSandbox(config: Pick<Config, 'sandbox'>): Promise<readonly ProbeResult[]> {
  const engine = createEngine(config.sandbox.dockerHost);
  const boxes = createBoxes({
    name: OWN_NAME,
    engine,
    prober: createEngineProber(engine, Date.now, MAKE_IMAGE),
    installation: `probe-${randomUUID()}`,
    life: { idleSeconds: 60, maxAgeSeconds: 600 },
    now: Date.now,
  });
  const sandbox = probedSandbox(config);
  const probe = await boxes.probe(sandbox);
  if (!probe.ok) return [{ check: 'box', expected: 'can be made', ok: false, seen: probe.reason }];
  return inWorkspace(async (workspace) => {
    const owner = boxOwner({ tenant: 'probe', agent: 'probe', sessionKey: 'probe', workspace }, sandbox);
    const shell = createBoxedShell({
      host: NO_HOST,
      boxes,
      bubblewrap: { works: async () => false, prefix: async () => [] },
      worker: 'probe',
      graceMs: 500,
      diskBytes: Number.MAX_SAFE_INTEGER,
      boundNames: BOX_BOUNDS,
    });
    const box = { sandbox, owner, inside: '' };
    try {
      return await probeAll({
        workspace,
        probes: PROBES,
        run: (request) => shell.run({ ...request, box: { ...box, timeoutMs: request.timeoutMs } }),
      });
    } finally {
      await boxes.remove(await boxes.obtain(owner, sandbox, probe));
    }
  });
}

/** Does the same for bubblewrap, as far as it promises anything. */
export async function probeBubblewrap(config: Pick<Config, 'sandbox'>): Promise<readonly ProbeResult[]> {
  const bubblewrap = createBubblewrap(commandFolders());
  if (!(await bubblewrap.works()))
    return [
      { check: 'box', expected: 'can be made', ok: false, seen: 'bubblewrap is not here or does not work' },
    ];
  const shell = createShell({
    name: OWN_NAME,
    environment: commandEnvironment({}),
    worker: 'probe',
    graceMs: 500,
  });
  return inWorkspace(async (workspace) => {
    const prefix = await bubblewrap.prefix(workspace, '', probedSandbox(config));
    const probes = PROBES.filter(({ containerOnly }) => !containerOnly);
    return probeAll({ workspace, probes, run: (request) => shell.run({ ...request, prefix }) });
  });
}

async function inWorkspace<Result>(work: (workspace: string) => Promise<Result>): Promise<Result> {
  const workspace = await mkdtemp(join(tmpdir(), 'tempoclaw-probe-'));
  try {
    return await work(workspace);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

interface Probed {
  readonly workspace: string;
  readonly probes: readonly Probe[];
  readonly run: (request: CommandRequest) => Promise<CommandOutcome>;
}

function probedSandbox({ sandbox }: Pick<Config, 'sandbox'>): Sandbox {
  const set = sandboxOf({ ...sandbox, network: false }, { mode: 'required', workspace: 'rw' });
  if (set === undefined) throw new Error('a required sandbox is never off');
  return { ...set, pids: PIDS, memoryBytes: MEMORY };
}

async function probeAll(box: Probed): Promise<ProbeResult[]> {
  const results: ProbeResult[] = [];
  for (const probe of box.probes) {
    const outcome = await runIn(box, probe.command, probe.timeoutMs ?? PROBE_MS);
    const text = `${outcome.stdout}${outcome.stderr}`.trim();
    const seen = (outcome.reason ?? (text === '' ? outcome.ended : text)).slice(0, SEEN_CHARS);
    results.push({ check: probe.check, expected: probe.expected, ok: probe.holds(text, outcome), seen });
  }
  return [...results, await probeWorkspace(box)];
}

async function probeWorkspace(box: Probed): Promise<ProbeResult> {
  const { workspace } = box;
  await writeFile(join(workspace, 'host'), 'of the host');
  const { stdout } = await runIn(box, 'cat host; printf "of the box" >box', PROBE_MS);
  const made = await readFile(join(workspace, 'box'), 'utf8').catch(() => 'nothing');
  const ok = stdout === 'of the host' && made === 'of the box';
  return {
    check: 'workspace',
    expected: 'the same files inside and outside',
    ok,
    seen: `${stdout}; ${made}`,
  };
}

function runIn({ workspace, run }: Probed, command: string, timeoutMs: number): Promise<CommandOutcome> {
  const { signal } = new AbortController();
  const folders = [workspace];
  return run({ command, cwd: workspace, pwd: workspace, folders, timeoutMs, callId: randomUUID(), signal });
}

/** A required sandbox never uses it. */
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
