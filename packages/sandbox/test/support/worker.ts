/** A program: a worker that runs the command that is its argument, until it is killed. */
import { createShell, ownIdentity } from '@tempoclaw/sandbox';

const [command = ''] = process.argv.slice(2);
const environment = { PATH: process.env['PATH'] ?? '' };
await createShell({ name: 'test', environment, worker: ownIdentity() }).run({
  command,
  cwd: '/',
  pwd: '/',
  folders: [],
  timeoutMs: 600_000,
  callId: 'call',
  signal: new AbortController().signal,
});
