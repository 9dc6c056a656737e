/** Finds a port to listen on: the wanted one, else the next free one, so that two starts never collide. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Ports tried upwards before giving up; if more in a row are taken, something else is wrong. */
const TRIES = 200;

/** True when nothing listens on the port and this user may listen there. */
export function isPortFree(port: number, host: string): Promise<boolean> {
  return listenOnce(port, host).then((got) => got !== undefined);
}

/**
 * The wanted port, or the first free one above it that is not in `taken`; 0 requests any from the system. Another
 * process may take it before it is used, so callers still handle a failed listen.
 */
export async function nextFreePort(
  required: number,
  host = '127.0.0.1',
  taken: ReadonlySet<number> = new Set(),
): Promise<number> {
  if (required === 0) {
    const port = await listenOnce(0, host);
    if (port === undefined) throw new Error(`No port can be listened on at ${host}.`);
    return taken.has(port) ? nextFreePort(0, host, taken) : port;
  }
  for (let port = required; port < required + TRIES && port <= 65_535; port += 1) {
    if (!taken.has(port) && (await listenOnce(port, host)) !== undefined) return port;
  }
  throw new Error(
    `Ports ${required} to ${required + TRIES - 1} at ${host} are all in use; choose another one.`,
  );
}

/** How often simultaneous starts of several stacks may lose a port between the check and the listening. */
const STARTS = 10;

/** Starts again, with a new search for ports, when another program has taken a port that was free a moment ago. */
export async function withPortsTaken<Started>(start: () => Promise<Started>): Promise<Started> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (
        tries === STARTS ||
        !(error instanceof Error && /EADDRINUSE|address already in use/i.test(error.message))
      )
        throw error;
    }
  }
}

/** True when something accepts connections at `host:port` within two seconds. */
export function isPortOpen(address: string): Promise<boolean> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(address.slice(colon + 1)), timeout: 2_000 });
    const finish = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    socket.once('timeout', () => finish(false));
  });
}

function listenOnce(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const got = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(got));
    });
  });
}

/** An address to open in a browser; a server that listens everywhere is also here. */
export function localHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** TCP ports on which a process listens. It is empty on systems that do not report them (Linux does, under /proc). */
export function listeningPorts(pid: number): number[] {
  try {
    const own = new Set(readdirSync(`/proc/${pid}/fd`).map((name) => socketOf(`/proc/${pid}/fd/${name}`)));
    const rows = ['tcp', 'tcp6'].flatMap((table) =>
      readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n'),
    );
    return rows.flatMap((row) => {
      const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/);
      return state === LISTEN && inode !== undefined && own.has(inode)
        ? [Number.parseInt(local.slice(-4), 16)]
        : [];
    });
  } catch {
    // This is another system, or the process has just ended.
    return [];
  }
}

/**
 * Ports of a process that opens several one after the other, such as a server of several services, once they have been
 * the same for a second.
 */
export async function settledPorts(pid: number): Promise<readonly number[]> {
  let ports = listeningPorts(pid);
  for (let same = 0; same < SETTLED_LOOKS; ) {
    await sleep(LOOK_MS);
    const now = listeningPorts(pid);
    same = now.join() === ports.join() ? same + 1 : 0;
    ports = now;
  }
  return ports;
}

const LOOK_MS = 100;
const SETTLED_LOOKS = 10;

/** The inode of an open socket; undefined for another file, and for one that was just closed. */
function socketOf(link: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1];
  } catch {
    return undefined;
  }
}

/** The state LISTEN in the kernel's tables. */
const LISTEN = '0A';

/** The port of `host:port` or a URL without a path. */
export function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

/** Formats a port for people. */
export function portWords(port: number, required: number): string {
  return port === required || required === 0 ? `port ${port}` : `port ${port} (${required} is in use)`;
}
