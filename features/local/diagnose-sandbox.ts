/** What `tempoclaw doctor` says about the places in which agents' commands can run. It starts and changes nothing. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '#config';
import { commandFolders } from '#config';
import { hostWall } from '#activities/process/host-wall.ts';
import { MAKE_IMAGE } from '#activities/process/own-names.ts';
import {
  type ProvenWall,
  createBubblewrap,
  createEngine,
  createEngineProber,
  type EngineProbe,
} from '@tempoclaw/sandbox';
import { DEFAULT_SANDBOX, type RunsAt, runsAtWords } from '#domain/sandbox.ts';
import { type Finding, finding } from './finding.ts';

/** `runs` says where commands run in a TempoClaw that is running. */
export async function diagnoseSandbox(config: Config, runs: RunsAt | undefined): Promise<Finding[]> {
  const { sandbox } = config;
  const mode = sandbox.mode ?? 'preferred';
  const engine = createEngine(sandbox.dockerHost);
  const image = sandbox.image ?? DEFAULT_SANDBOX.image;
  const [probe, bubblewrap, wall] = await Promise.all([
    createEngineProber(engine, Date.now, MAKE_IMAGE).probe(image, sandbox.runtime, true),
    createBubblewrap(commandFolders()).works(),
    tryWall(config),
  ]);
  return [
    finding(
      'Sandbox',
      'info',
      `${mode}; where commands run: ${runs === undefined ? placeOf(mode, probe.ok, bubblewrap) : runsAtWords(runs)}`,
    ),
    // Without it, nothing that runs commands works in that mode.
    ...engineFindings(probe, engine.address, image, mode === 'required' ? 'warn' : 'info'),
    bubblewrap
      ? finding('bubblewrap', 'info', 'works')
      : finding(
          'bubblewrap',
          'info',
          'not here, or the kernel forbids it',
          'It is used where there is no container (Debian: apt install bubblewrap).',
        ),
    wall.why === undefined
      ? finding('Wall', 'info', 'holds around commands on the host: files and network')
      : finding(
          'Wall',
          mode !== 'required' && !probe.ok && !bubblewrap ? 'warn' : 'info',
          `around commands on the host holds: ${wall.host.wall} (${wall.why})`,
          'What runs code of the workspace there is asked about each time. Use a container or bubblewrap, or Linux 6.7 or later with Landlock and Python 3.',
        ),
  ];
}

function engineFindings(
  check: EngineProbe,
  address: string,
  image: string,
  lacking: Finding['status'],
): Finding[] {
  if (check.ok)
    return [
      finding('Engine', 'ok', `${address}, version ${check.version}`),
      finding('Image', 'ok', image),
      finding(
        'gVisor',
        'info',
        check.runtimes.includes('runsc') ? 'runsc is there' : 'the engine has no runsc',
      ),
    ];
  if (check.lacks !== 'image')
    return [
      finding('Engine', lacking, check.reason, 'For containers install Docker, or set sandbox.dockerHost.'),
    ];
  const remedy = 'bash docker/sandbox/make-image';
  return [finding('Engine', 'ok', address), finding('Image', lacking, `${image} is not there`, remedy)];
}

/** Tests the folders as they are, or temporary ones if there are none yet. */
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
