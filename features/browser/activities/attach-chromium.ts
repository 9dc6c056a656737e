/**
 * A program that represents, on the host, a Chromium whose container it makes. It passes CDP from its standard input
 * into the container, and from there to its standard output. Its arguments are the engine's address, the container's
 * options as base64 of JSON, and Chromium's own. When it ends or is killed, the container's input closes, which ends
 * Chromium.
 */
import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import type { ContainerCreateOptions } from 'dockerode';
import { createEngine } from '@tempoclaw/sandbox';

const [address = '', encoded = '', ...flags] = process.argv.slice(2);
const options = JSON.parse(Buffer.from(encoded, 'base64').toString()) as ContainerCreateOptions;
const Cmd = [...(options.Cmd ?? []), ...flags];
const begin = async (docker: Docker): Promise<{ readonly docker: Docker; readonly stream: Duplex }> => {
  const box = await docker.createContainer({ ...options, Cmd });
  const stream = (await box.attach({
    stream: true,
    hijack: true,
    stdin: true,
    stdout: true,
    stderr: true,
  })) as Duplex;
  await box.start();
  return { docker, stream };
};
const { docker, stream } = await createEngine(address).ask(begin, 20_000);
docker.modem.demuxStream(stream, process.stdout, process.stderr);
process.stdin.pipe(stream);
stream.once('close', () => process.exit(0));
stream.once('end', () => process.exit(0));
stream.once('error', () => process.exit(1));
