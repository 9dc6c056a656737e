/** What `tempoclaw doctor` says of the places that agents' commands can run in. Nothing is started or changed. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '#config';
import { commandFolders } from '#config';
import { hostWall } from '#activities/process/host-wall.ts';
import type { ProvenWall } from '#activities/process/prove-wall.ts';
import { createBubblewrap } from '#activities/sandbox/bubblewrap.ts';
import { createEngine } from '#activities/sandbox/engine.ts';
import { createEngineLook } from '#activities/sandbox/look-at-engine.ts';
import { DEFAULT_SANDBOX } from '#domain/sandbox.ts';
import type { Finding } from './diagnose.ts';

export async function diagnoseSandbox(config: Config): Promise<Finding[]> {
  const { sandbox } = config;
  const mode = sandbox.mode ?? 'preferred';
  const engine = createEngine(sandbox.dockerHost);
  const image = sandbox.image ?? DEFAULT_SANDBOX.image;
  const [look, bubblewrap, wall] = await Promise.all([
    createEngineLook(engine, Date.now).at(image, sandbox.runtime, true),
    createBubblewrap(commandFolders()).works(),
    tryWall(config),
  ]);
  // Nothing that runs commands works then.
  const lacking = mode === 'required' ? 'warn' : 'info';
  const findings: Finding[] = [
    {
      check: 'Sandbox',
      status: 'info',
      detail: `${mode}; where commands run: ${placeOf(mode, look.ok, bubblewrap)}`,
    },
  ];
  if (look.ok) {
    const gvisor = look.runtimes.includes('runsc');
    findings.push(
      { check: 'Engine', status: 'ok', detail: `${engine.address}, version ${look.version}` },
      { check: 'Image', status: 'ok', detail: image },
      { check: 'gVisor', status: 'info', detail: gvisor ? 'runsc is there' : 'the engine has no runsc' },
    );
  } else if (look.lacks === 'image') {
    findings.push(
      { check: 'Engine', status: 'ok', detail: engine.address },
      {
        check: 'Image',
        status: lacking,
        detail: `${image} is not there`,
        remedy: 'bash docker/sandbox/make-image',
      },
    );
  } else {
    const remedy = 'For containers install Docker, or set sandbox.dockerHost.';
    findings.push({ check: 'Engine', status: lacking, detail: look.reason, remedy });
  }
  findings.push(
    bubblewrap
      ? { check: 'bubblewrap', status: 'info', detail: 'works' }
      : {
          check: 'bubblewrap',
          status: 'info',
          detail: 'not here, or the kernel forbids it',
          remedy: 'It is used where there is no container (Debian: apt install bubblewrap).',
        },
  );
  findings.push(
    wall.why === undefined
      ? { check: 'Wall', status: 'info', detail: 'holds around commands on the host: files and network' }
      : {
          check: 'Wall',
          status: mode !== 'required' && !look.ok && !bubblewrap ? 'warn' : 'info',
          detail: `around commands on the host holds: ${wall.host.wall} (${wall.why})`,
          remedy:
            'What runs code of the workspace there is asked about each time. Use a container or bubblewrap, or Linux 6.7 or later with Landlock and Python 3.',
        },
  );
  return findings;
}

/** On the folders as they are; in ones of a moment where there are none yet. */
async function tryWall(config: Config): Promise<ProvenWall> {
  const moment = mkdtempSync(join(tmpdir(), 'tempoclaw-doctor-'));
  const there = (path: string, name: string): string => (existsSync(path) ? path : join(moment, name));
  try {
    const tried = await hostWall({
      ...config,
      stateDir: there(config.stateDir, 'state'),
      workspaceRoot: there(config.workspaceRoot, 'workspaces'),
    });
    tried.host.close();
    return tried;
  } finally {
    rmSync(moment, { recursive: true, force: true });
  }
}

function placeOf(mode: string, container: boolean, bubblewrap: boolean): string {
  if (mode === 'off') return 'the host';
  if (container) return 'a container';
  if (mode === 'required') return 'nowhere';
  return bubblewrap ? 'bubblewrap' : 'the host';
}
