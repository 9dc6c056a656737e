/**
 * A program that is an MCP server: its messages over stdin and stdout, and its end, with everything that it started.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { killLeftovers } from '@tempoclaw/sandbox';
import { createMessageLines } from './message-lines.ts';

/** The last characters of its error output: more than are shown, because secrets are searched for in whole texts. */
const LAST_WORDS = 20_000;
/** How long it may take to end by itself after its input was closed. */
const END_MS = 500;
/** Wait from its end until its output is read, which something that it started may hold open. */
const DRAIN_MS = 200;
/** Bytes of one line, however little of it is kept. */
const LINE_BYTES = 1024 * 1024 * 1024;
/** How long nothing may come in the middle of a line that is too long. */
const STALL_MS = 5_000;
/** Wait from SIGTERM to SIGKILL. */
const TERM_MS = 500;

export interface Program {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** `NAME=value` in the environment of all its processes. */
  readonly mark: string;
}

export class ProgramTransport implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  /** With `pid`, this is how the SDK recognizes a program, which it asks itself for the revision. */
  readonly stderr = null;
  pid: number | null = null;
  readonly #program: Program;
  #child: ChildProcessWithoutNullStreams | undefined;
  #words = '';
  #stall: NodeJS.Timeout | undefined;
  #over = Promise.withResolvers<void>();

  constructor(program: Program) {
    this.#program = program;
  }

  async start(): Promise<void> {
    const { command, env, cwd } = this.#program;
    const [file = '', ...args] = command;
    const child = spawn(file, args, { env, cwd, stdio: 'pipe', detached: true });
    const lines = createMessageLines();
    child.stdout.on('data', (chunk: Buffer) => {
      for (const line of lines.take(chunk)) this.#hear(line);
      this.#limit(lines.tooLong());
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#words = `${this.#words}${chunk.toString()}`.slice(-LAST_WORDS);
    });
    // The program's end reports what went wrong with a pipe.
    for (const pipe of [child.stdin, child.stdout, child.stderr])
      pipe.on('error', (error) => this.onerror?.(error));
    child.once('close', () => this.#end());
    child.once('exit', () => setTimeout(() => this.#end(), DRAIN_MS).unref());
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve).once('error', reject);
    });
    this.#child = child;
    this.pid = child.pid ?? null;
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#child?.stdin.writable) return reject(new Error('the program has ended'));
      this.#child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Its last output, in one line; empty when there was no error output. */
  get lastWords(): string {
    return this.#words.trim().replace(/\s+/g, ' ');
  }

  /** Resolves when all its processes have ended, within two seconds. Safe to repeat. */
  async close(): Promise<void> {
    if (this.pid === null) return;
    this.#child?.stdin.end();
    await Promise.race([this.#over.promise, pause(END_MS)]);
    await killLeftovers({ pid: this.pid, mark: this.#program.mark }, TERM_MS);
    this.#end();
  }

  /** A message that is too long may come to its end; one that stops before, or never ends, ends the connection. */
  #limit(bytes: number): void {
    clearTimeout(this.#stall);
    if (bytes > LINE_BYTES) void this.close();
    else if (bytes > 0) this.#stall = setTimeout(() => void this.close(), STALL_MS).unref();
  }

  #hear(line: string): void {
    try {
      const messages: unknown = JSON.parse(line);
      for (const message of Array.isArray(messages) ? messages : [messages])
        this.onmessage?.(parseJSONRPCMessage(message));
    } catch (error) {
      // This line is no message: programs print greetings and warnings.
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #end(): void {
    if (!this.#child) return;
    clearTimeout(this.#stall);
    for (const pipe of this.#child.stdio) pipe?.destroy();
    this.#child = undefined;
    this.#over.resolve();
    this.onclose?.();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
