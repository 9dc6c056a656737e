/**
 * The container engine; each request has a timeout. Refusals and timeouts are EngineProblems with text for people. The
 * client is loaded when it is first needed.
 */
import { Agent } from 'node:http';
import type Docker from 'dockerode';
import type { DockerOptions } from 'dockerode';

/** `unreachable`: there was no answer, so it is unknown whether the request took effect. Otherwise the HTTP status. */
export class EngineProblem extends Error {
  override readonly name = 'EngineProblem';
  readonly status: number | 'unreachable';

  constructor(status: number | 'unreachable', message: string) {
    super(message);
    this.status = status;
  }
}

export interface Engine {
  /** The configured or detected address, for people. */
  readonly address: string;
  /** Makes one request, which the signal ends. Throws EngineProblem. */
  ask<T>(work: (docker: Docker, abortSignal: AbortSignal) => Promise<T>, ms?: number): Promise<T>;
}

const DEFAULT_ADDRESS = 'unix:///var/run/docker.sock';
/** All requests for one command together stay under ten seconds. */
const ANSWER_MS = 4_000;

export function createEngine(dockerHost: string | undefined): Engine {
  const address = dockerHost ?? DEFAULT_ADDRESS;
  let client: Promise<Docker> | undefined;
  return {
    address,
    async ask(work, ms = ANSWER_MS) {
      client ??= connect(address);
      const stop = new AbortController();
      let timer: NodeJS.Timeout | undefined;
      try {
        // Loading the client does not count, because it takes long on a busy machine.
        const docker = await client;
        timer = setTimeout(() => stop.abort(), ms);
        // Not every request supports the signal; none may take longer.
        return await Promise.race([work(docker, stop.signal), whenAborted(stop.signal)]);
      } catch (error) {
        throw problemOf(error, address, stop.signal.aborted ? ms : undefined);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

async function connect(address: string): Promise<Docker> {
  const { default: Client } = await import('dockerode');
  return new Client({
    ...optionsOf(address),
    // A kept connection is broken after a restart of the engine.
    agent: new Agent({ keepAlive: false }),
  } as DockerOptions);
}

function optionsOf(address: string): DockerOptions {
  const path = /^unix:\/\/(\/.+)$/.exec(address)?.[1];
  // The client reads missing settings from its own variables.
  if (path !== undefined)
    return {
      socketPath: path,
      host: undefined,
      port: undefined,
      protocol: 'http',
    } as unknown as DockerOptions;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['tcp:', 'http:'].includes(url.protocol) || url.hostname === '')
    throw new EngineProblem(
      'unreachable',
      `the engine's address ${address} is neither unix:///PATH nor tcp://HOST:PORT`,
    );
  return { host: url.hostname, port: url.port || '2375', protocol: 'http' };
}

function problemOf(error: unknown, address: string, waited: number | undefined): EngineProblem {
  if (error instanceof EngineProblem) return error;
  if (waited !== undefined)
    return new EngineProblem('unreachable', `the engine at ${address} has not answered for ${waited} ms`);
  const { statusCode, code, message, json } = error as EngineAnswer;
  if (statusCode !== undefined) return new EngineProblem(statusCode, json?.message ?? message);
  return new EngineProblem('unreachable', `no engine answers at ${address} (${code ?? message})`);
}

interface EngineAnswer extends Error {
  readonly statusCode?: number;
  readonly code?: string;
  readonly json?: { readonly message?: string } | null;
}
