/** The small process that starts commands for its worker (launcher.ts), and ends with it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { headerOf, type LauncherMessage, type LaunchRequest, startOf } from './launcher.ts';

const path = process.argv[2] ?? '';
// Ctrl-C reaches the whole group; the worker decides when its commands end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => {
  // A worker that was killed cannot remove it.
  rmSync(dirname(path), { recursive: true, force: true });
  process.exit();
});
process.on('message', (request: LaunchRequest) => {
  start(request).catch((error: unknown) => {
    send({ id: request.id, failed: error instanceof Error ? error.message : String(error) });
  });
});

send({ up: true });

async function start({ id, file, args, cwd, env }: LaunchRequest): Promise<void> {
  const outputs = await Promise.all([output(id, 1), output(id, 2)]);
  try {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', ...outputs], detached: true });
    child.once('exit', (code, signal) => send({ id, code, signal }));
    if (child.pid === undefined) throw (await once(child, 'error'))[0];
    send({ id, pid: child.pid, since: startOf(child.pid) });
  } finally {
    for (const socket of outputs) socket.destroy();
  }
}

/** A connection to the worker after its header was sent: the rest is the command's output. */
async function output(id: string, which: 1 | 2): Promise<Socket> {
  const socket = connect(path);
  await once(socket, 'connect');
  await new Promise((sent) => socket.write(headerOf(id, which), sent));
  return socket;
}

function send(message: LauncherMessage): void {
  // Without a worker the message has no receiver; the end of the channel ends this process.
  process.send?.(message, () => undefined);
}
