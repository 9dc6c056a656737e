/**
 * A process that runs one command line after the other, as run-cli.ts requests. Starting Node and loading the code is
 * nearly the whole cost of most commands. Each gets streams, variables and a folder of its own, as in a process of its
 * own.
 */
import { Readable, Writable } from 'node:stream';

export interface CommandLine {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

// The program runs the line that it finds when it is loaded.
process.argv = [...process.argv.slice(0, 2), '--version'];
const loaded = import('#cli/main.ts');
process.on('message', async (line: CommandLine) => process.send?.(await run(line)));
process.on('disconnect', () => process.exit());

async function run({ args, cwd, env, input }: CommandLine): Promise<CliResult> {
  const { main } = await loaded;
  process.chdir(cwd);
  // The program does this before all else (prepare-variables.ts).
  process.env = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  process.exitCode = undefined;
  const [stdout, stderr] = [capture('stdout'), capture('stderr')];
  give('stdin', Readable.from(input === '' ? [] : [input], { objectMode: false }));
  const code = await main(['node', 'tempoclaw', ...args]);
  return { code, stdout: stdout(), stderr: stderr() };
}

function capture(name: 'stdout' | 'stderr'): () => string {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  give(name, stream);
  return () => Buffer.concat(chunks).toString();
}

function give(name: 'stdin' | 'stdout' | 'stderr', value: Readable | Writable): void {
  Object.defineProperty(process, name, { value, configurable: true });
}
