/**
 * A file that only a passphrase opens: a line in clear, which names the format, then compressed records in pieces of
 * AES-256-GCM. Each piece is bound to that line, to its number and to whether it is the last, so that no piece can be
 * changed, left out, exchanged or cut off.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, scrypt } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline as connect, Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, createGzip, constants } from 'node:zlib';
import { CliError } from '#cli/cli-error.ts';

const FORMAT = 1;
const PIECE_BYTES = 262_144;
const TAG_BYTES = 16;
/** N, r and p of scrypt: 128 MiB of memory and about half a second (RFC 7914). */
const COST = { N: 131_072, r: 8, p: 1, maxmem: 268_435_456 } as const;
/** The line in clear is much shorter. */
const MAX_HEAD_BYTES = 1_024;
/** A record contains at most one row, of which Postgres takes up to 1 GB; those of TempoClaw are far smaller. */
const MAX_RECORD_CHARACTERS = 402_653_184;
/** A shorter one is guessed. */
const MIN_PASSPHRASE = 12;

interface Head {
  readonly tempoclaw: 'tenant';
  readonly format: number;
  readonly salt: string;
  /** Proves that the passphrase is the right one. */
  readonly proof: string;
}

export interface OpenedFile {
  /** Identifies the file. */
  readonly id: string;
  /** Each call reads it from its beginning. */
  records(): AsyncGenerator<unknown>;
}

export function passphraseProblem(passphrase: string): string | undefined {
  if (passphrase.length >= MIN_PASSPHRASE) return undefined;
  return `The passphrase must have at least ${MIN_PASSPHRASE} characters.`;
}

/** The file is there completely or not at all; an existing one is replaced. */
export async function writeSealedFile(
  path: string,
  passphrase: string,
  records: AsyncIterable<unknown>,
): Promise<void> {
  const salt = randomBytes(16);
  const key = await keyOf(passphrase, salt);
  const head: Head = { tempoclaw: 'tenant', format: FORMAT, salt: salt.toString('hex'), proof: proofOf(key) };
  const line = `${JSON.stringify(head)}\n`;
  const part = `${path}.part`;
  await rm(part, { force: true });
  try {
    await pipeline(
      Readable.from(linesOf(records)),
      createGzip({ level: constants.Z_BEST_SPEED }),
      sealPieces(key, line),
      createWriteStream(part, { mode: 0o600, flags: 'wx' }),
    );
    for (const kept of [part, dirname(path)]) await syncPath(kept);
    await rename(part, path);
    await syncPath(dirname(path));
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function* linesOf(records: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const record of records) yield `${JSON.stringify(record)}\n`;
}

/** Throws a CliError for another kind of file or a wrong passphrase. */
export async function openSealedFile(path: string, passphrase: string): Promise<OpenedFile> {
  const { head, line } = await readHead(path);
  const key = await keyOf(passphrase, Buffer.from(head.salt, 'hex'));
  if (proofOf(key) !== head.proof)
    throw new CliError(
      `The passphrase is not the one that ${path} was written with, or its first line was changed; nothing was imported.`,
      { code: 'WrongPassphrase' },
    );
  return { id: head.salt, records: () => readRecords(path, key, line) };
}

async function readHead(path: string): Promise<{ readonly head: Head; readonly line: string }> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`${path} cannot be read: ${error.message}`);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0);
    const text = buffer.subarray(0, bytesRead).toString('latin1');
    const line = text.slice(0, text.indexOf('\n') + 1);
    return { head: parseHead(path, line), line };
  } finally {
    await file.close();
  }
}

function parseHead(path: string, line: string): Head {
  try {
    const head = JSON.parse(line) as Partial<Head>;
    if (head.tempoclaw === 'tenant' && typeof head.salt === 'string' && head.format === FORMAT)
      return head as Head;
  } catch {
    // It is no JSON.
  }
  throw new CliError(`${path} is not an exported tenant of this version.`, {
    remedy: 'Write one with: tempoclaw tenants export TENANT FILE',
  });
}

async function* readRecords(path: string, key: Buffer, line: string): AsyncGenerator<unknown> {
  const gunzip = createGunzip();
  // An error of one ends the other, and a reader that stops ends both.
  connect(Readable.from(openPieces(path, key, line)), gunzip, () => undefined);
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of gunzip) {
    const lines = decoder.decode(bytes as Buffer, { stream: true }).split('\n');
    lines[0] = text + (lines[0] ?? '');
    text = lines.pop() ?? '';
    if (text.length > MAX_RECORD_CHARACTERS) throw changed(path);
    for (const one of lines) yield JSON.parse(one);
  }
  if (text !== '') throw changed(path);
}

function changed(path: string): CliError {
  return new CliError(`${path} was changed or is not complete; nothing was imported.`, {
    code: 'FileChanged',
    remedy: 'Export the tenant again, or copy the file again.',
  });
}

async function keyOf(passphrase: string, salt: Buffer): Promise<Buffer> {
  return (await promisify<string, Buffer, number, typeof COST, Buffer>(scrypt)(
    passphrase,
    salt,
    32,
    COST,
  )) as Buffer;
}

function proofOf(key: Buffer): string {
  return createHmac('sha256', key).update('tempoclaw tenant file').digest('hex');
}

/** The key is used for one file, so a counter is a nonce that never comes twice. */
function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number), 4);
  return nonce;
}

function bindingOf(line: string, isLast: boolean): Buffer {
  return Buffer.from(`${isLast ? 'last' : 'more'} ${line}`);
}

/** Each piece but the last has PIECE_BYTES. */
function sealPieces(key: Buffer, line: string): Transform {
  let waiting: Buffer[] = [];
  let length = 0;
  let number = 0;
  const seal = (bytes: Buffer, isLast: boolean): Buffer => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number++), { authTagLength: TAG_BYTES });
    cipher.setAAD(bindingOf(line, isLast));
    return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  };
  const transform = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      waiting.push(chunk);
      length += chunk.length;
      // The last piece is only known at the end, so one is kept back.
      if (length > PIECE_BYTES) {
        const all = Buffer.concat(waiting);
        const whole = Math.floor((all.length - 1) / PIECE_BYTES) * PIECE_BYTES;
        for (let at = 0; at < whole; at += PIECE_BYTES)
          transform.push(seal(all.subarray(at, at + PIECE_BYTES), false));
        waiting = [all.subarray(whole)];
        length = all.length - whole;
      }
      done();
    },
    flush(done) {
      transform.push(seal(Buffer.concat(waiting), true));
      done();
    },
  });
  transform.push(line);
  return transform;
}

/** Throws a CliError for any bit that differs. */
async function* openPieces(path: string, key: Buffer, line: string): AsyncGenerator<Buffer> {
  const sealedBytes = PIECE_BYTES + TAG_BYTES;
  let waiting = Buffer.alloc(0);
  let number = 0;
  const unseal = (bytes: Buffer, isLast: boolean): Buffer => {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number++), { authTagLength: TAG_BYTES });
      decipher.setAAD(bindingOf(line, isLast));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
    } catch {
      // Whichever way it fails, these are not the bytes that were written.
      throw changed(path);
    }
  };
  for await (const chunk of createReadStream(path, { start: Buffer.byteLength(line) })) {
    waiting = Buffer.concat([waiting, chunk as Buffer]);
    for (; waiting.length > sealedBytes; waiting = waiting.subarray(sealedBytes))
      yield unseal(waiting.subarray(0, sealedBytes), false);
  }
  yield unseal(waiting, true);
}
