/**
 * Stores the result as a file of the caller's workspace. Its path is derived from the call, so that each attempt writes
 * the same file.
 */
import { fileTypeFromBuffer } from 'file-type';
import { readImage } from '#domain/model/image.ts';
import type { MediaKind, MediaRequest } from '../contract.ts';
import { type ToolFailure, type ToolResult, toolError } from '#domain/tool.ts';
import { FileProblem } from '#activities/workspace/file-problem.ts';
import { costOf, settle } from './making-cost.ts';
import { type PendingOrder, MAX_BYTES, type MediaJob } from './making-work.ts';

/** Largest picture that a video begins with. */
const IMAGE_BYTES = 20 * 1024 * 1024;
const FOLDER = 'generated';
/** Extensions that a kind's file may have. */
const ENDS: Readonly<Record<MediaKind, readonly string[]>> = {
  image: ['png', 'jpg', 'webp', 'gif'],
  music: ['mp3', 'wav', 'm4a'],
  sound_effect: ['mp3', 'wav', 'm4a'],
  video: ['mp4', 'webm', 'mov'],
  speech: ['mp3', 'wav', 'm4a'],
};

interface Made {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export async function finish(
  work: MediaJob,
  remaining: PendingOrder,
  bytes: Uint8Array,
  seconds?: number,
): Promise<ToolResult> {
  const { call, wish, files } = work;
  const { kind } = wish.request;
  const found = await fileTypeFromBuffer(bytes);
  if (!found || !ENDS[kind].includes(found.ext) || bytes.length > MAX_BYTES)
    return toolError(
      'ExecutionFailed',
      `${remaining.order.ref} sent ${bytes.length} bytes of ${found?.mime ?? 'something unknown'}, which is no ${kind}; it may be charged for`,
    );
  const path = pathOf(work, remaining, found.ext);
  await files.write(call, path, Buffer.from(bytes));
  return recordOutcome(work, remaining, { path, bytes }, seconds);
}

/** Finds the file of an attempt whose worker was lost before it could report it. */
export async function madeBefore(work: MediaJob, rest: PendingOrder): Promise<Made | undefined> {
  for (const end of ENDS[work.wish.request.kind]) {
    const path = pathOf(work, rest, end);
    const bytes = await work.files.readBytes(work.call, path, MAX_BYTES).catch(whenMissing);
    if (bytes) return { path, bytes };
  }
  return undefined;
}

function whenMissing(error: unknown): undefined {
  if (!(error instanceof FileProblem)) throw error;
}

/** The path is the same for each attempt of the call. */
function pathOf({ call, wish }: MediaJob, { since }: PendingOrder, end: string): string {
  const hint = (wish.filename_hint ?? '')
    .replace(/\.\w{1,5}$/, '')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  const name = hint === '' ? wish.request.kind : hint;
  return `${FOLDER}/${new Date(since).toISOString().slice(0, 10)}/${name}-${call.callId.slice(-12)}.${end}`;
}

export async function recordOutcome(
  work: MediaJob,
  remaining: PendingOrder,
  made: Made,
  seconds?: number,
): Promise<ToolResult> {
  const { ref, failed } = remaining.order;
  const { path, bytes } = made;
  const { kind } = work.wish.request;
  await settle(work, ref, costOf(work, ref, seconds), true);
  const facts = readImage(bytes);
  const size = facts ? `${facts.width}x${facts.height} pixels, ` : '';
  const before = failed.length > 0 ? `\n[before it ${failed.join('; ')}]` : '';
  const text = `Made by ${ref}: ${path} (${size}${bytes.length} bytes)${before}`;
  return { ok: true, text, ...(kind === 'image' ? { images: [bytes] } : {}) };
}

export async function imageOf({ open, call, wish }: MediaJob): Promise<MediaRequest['image'] | ToolFailure> {
  const path = wish.image_path;
  if (path === undefined) return undefined;
  const { bytes } = await open(call, path);
  const facts = bytes.length > IMAGE_BYTES ? undefined : readImage(bytes);
  if (facts && facts.type !== 'image/gif') return { bytes, type: facts.type };
  return toolError(
    'InvalidArgs',
    `image_path: ${path.slice(0, 200)} is no PNG, JPEG or WebP of at most ${IMAGE_BYTES} bytes`,
  );
}
