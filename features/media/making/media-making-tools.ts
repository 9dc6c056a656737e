/**
 * Calls providers to make pictures, sounds, videos and speech, one after the other until one does. An order is recorded
 * before it is sent, and a job's id as soon as it is known, so that each is paid for once whatever dies. Timers of the
 * turn's workflow wait for a job.
 */
import { type MediaRequest, USUAL_CHAINS } from '../contract.ts';
import type { PendingExternalCall } from '#domain/turn/pending-call.ts';
import { type ToolFailure, type ToolResult, toolError } from '#domain/tool.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { isStopped } from '#activities/attempt.ts';
import { withMediaProblems } from '../reading/reading-tool.ts';
import { FileProblem } from '#activities/workspace/file-problem.ts';
import { finish, imageOf, madeBefore, recordOutcome } from './made-file.ts';
import { costOf, reserve, settle } from './making-cost.ts';
import { LATER, type MediaMaker, MediaProblem, mediaProblem } from './media-maker.ts';
import {
  download,
  type PendingOrder,
  type MediaParts,
  type MediaWish,
  reached,
  type MediaJob,
} from './making-work.ts';
import { type MediaPlace, placeOf } from './reach-provider.ts';

export interface MakingTools {
  /** Makes it into a file of the caller's workspace. */
  readonly making: { make(call: RunningCall, wish: MediaWish): Promise<ToolResult> };
}

/** Some providers answer only when everything is made; those with jobs answer immediately. */
const ORDER_MS = 280_000;
const JOB_ORDER_MS = 30_000;
const LOOK_MS = 60_000;
const CANCEL_MS = 15_000;
/** A job that takes longer is given up. */
const LONGEST_MS = 3_600_000;
/** An order that is listed nowhere after this time was not accepted. */
const FIND_MS = 900_000;
/** Wait before a retry after 429, unless the provider states one. It is at most LIMITED_SECONDS. */
const LIMITED_MS = 15_000;
const LIMITED_SECONDS = 300;
/** Seconds between checks, growing with the elapsed time. */
const LOOK_SECONDS = { min: 1, max: 60 };

export function createMediaMakingTools(parts: MediaParts): MakingTools {
  return {
    making: {
      make(call, wish) {
        const { outside } = call;
        if (!outside) throw new Error('a call that leaves work outside has a row');
        return withMediaProblems(() => go({ ...parts, call, outside, wish }));
      },
    },
  };
}

async function go(work: MediaJob): Promise<ToolResult> {
  const { left } = work.outside;
  if (!hasOrder(left)) return orderFrom(work, chainOf(work), []);
  if (work.outside.isStopped) return giveUp(work, left);
  if (left.task !== undefined) return look(work, left, left.task);
  const made = await madeBefore(work, left);
  if (made) return recordOutcome(work, left, made);
  return findOrder(work, left, 'the worker that ordered it was lost before it had the answer');
}

function hasOrder(remaining: PendingExternalCall | undefined): remaining is PendingOrder {
  return remaining?.order !== undefined;
}

function chainOf(work: MediaJob): string[] {
  const { mediaPlaces, wish } = work;
  const { kind } = wish.request;
  const chain = mediaPlaces.settings[kind] ?? USUAL_CHAINS[kind];
  const { provider, model } = wish;
  const refs =
    provider === undefined
      ? [...chain]
      : [...chain, ...USUAL_CHAINS[kind]].filter((ref) => ref.startsWith(`${provider}/`)).slice(0, 1);
  const first = refs.findIndex((ref) => typeof placeOf(work.mediaPlaces, ref) !== 'string');
  return refs.map((ref, at) => (at === first && model !== undefined ? `${ref.split('/')[0]}/${model}` : ref));
}

/** Orders from the first provider that accepts it. */
async function orderFrom(
  work: MediaJob,
  refs: readonly string[],
  before: readonly string[],
): Promise<ToolResult> {
  const { outside, wish } = work;
  if (outside.isStopped) return toolError('Cancelled', 'the call was stopped; nothing was ordered');
  const image = await imageOf(work);
  if (image && 'ok' in image) return image;
  const failed = [...before];
  let request: MediaRequest = { ...wish.request, image };
  const since = waitsSince(work);
  const places = refs.map((ref) => placeOf(work.mediaPlaces, ref));
  const providers = new Set(places.flatMap((place) => (typeof place === 'string' ? [] : place.maker)));
  const isAlone = providers.size === 1 && before.length === 0;
  let only: MediaMaker | undefined;
  for (const [at, ref] of refs.entries()) {
    const place = places[at] ?? '';
    if (typeof place === 'string') {
      failed.push(`${ref}: ${place}`);
      continue;
    }
    if (only && place.maker !== only) break;
    const done = await order(work, place, request, [...failed]);
    if (!(done instanceof MediaProblem)) return done;
    if (isAlone && done.status === 429) return await askAgain(work, ref, since, done);
    failed.push(`${ref}: ${done.message}`);
    // Its address or its model's name is wrong. The error should be visible, instead of paying another provider.
    if (done.status === 404) only = place.maker;
    // Other providers have their own voices.
    request = { ...request, voice: undefined };
  }
  return notMade(failed, wish);
}

function notMade(failed: readonly string[], { provider }: MediaWish): ToolResult {
  const why = failed.length === 0 ? `no provider ${provider ?? ''} makes it` : failed.join('; ');
  return toolError('ExecutionFailed', `it was not made. ${why}`);
}

/** Since when its provider has been too busy for it. */
function waitsSince({ outside: { left }, now }: MediaJob): number {
  return left && !hasOrder(left) ? left.since : now();
}

/** No other provider could make it, so it is ordered again when its provider has time. */
async function askAgain(
  work: MediaJob,
  ref: string,
  since: number,
  problem: MediaProblem,
): Promise<ToolResult> {
  if (work.now() - since > LONGEST_MS)
    return toolError('RateLimited', `it was not made. ${ref}: ${problem.message}`);
  await work.outside.keep({ since, asks: 0 });
  const seconds = Math.ceil((problem.retryAfterMs ?? LIMITED_MS) / 1000);
  work.call.progress(`${ref} has no time; it is asked again in ${seconds} s`);
  return { ok: true, text: '', pending: { later: Math.min(LIMITED_SECONDS, Math.max(1, seconds)) } };
}

/** Orders once. Returns why it made nothing, if that is certain. */
async function order(
  work: MediaJob,
  place: MediaPlace,
  request: MediaRequest,
  failed: readonly string[],
): Promise<ToolResult | MediaProblem> {
  const { ref, maker, model } = place;
  const exceeded = await reserve(work, ref);
  if (exceeded !== undefined)
    return toolError('BudgetExceeded', `${exceeded}. Nothing was ordered of ${ref}.`);
  work.call.signal.throwIfAborted();
  const remaining = { since: work.now(), asks: 0, order: { ref, failed } };
  await work.outside.keep(remaining);
  try {
    // A stop must not lose the id of the order, because it cancels the job by this id.
    const isJob = maker.jobs?.kinds.includes(request.kind) === true;
    const [asker, patience] = isJob ? [untied(work), JOB_ORDER_MS] : [work, ORDER_MS];
    const ordered = await reached(asker, place, patience, (access) =>
      maker.order(access, { model, request }),
    );
    if ('bytes' in ordered) return await finish(work, remaining, ordered.bytes);
    await keepJob(work, remaining, ordered.job);
    work.call.progress(`${ref} works at it`);
    return await later(work, remaining);
  } catch (error) {
    work.call.signal.throwIfAborted();
    const problem = mediaProblem(error);
    if (problem.kind === 'lost' && costOf(work, ref) !== 0)
      return findOrder(work, remaining, problem.message);
    await settle(work, ref, 0);
    return problem;
  }
}

/** Without its id, an existing job would be paid for in vain. */
async function keepJob(work: MediaJob, rest: PendingOrder, job: string): Promise<void> {
  try {
    await work.outside.keep({ ...rest, task: job });
  } catch (error) {
    if (isStopped(work.call.signal)) await cancelQuietly(work, rest, job);
    throw error;
  }
}

async function look(work: MediaJob, remaining: PendingOrder, job: string): Promise<ToolResult> {
  const { ref, failed } = remaining.order;
  const at = jobsOf(work, remaining);
  // The operator may configure it again.
  if (!at) return later(work, remaining);
  try {
    const checked = await reached(work, at.place, LOOK_MS, (access) => at.jobs.look(access, job));
    if (checked === 'running') return await later(work, remaining);
    if ('failed' in checked) {
      await settle(work, ref, 0);
      const chain = chainOf(work);
      const rest = chain.includes(ref) ? chain.slice(chain.indexOf(ref) + 1) : [];
      return await orderFrom(work, rest, [...failed, `${ref}: ${checked.failed}`]);
    }
    const bytes = await reached(work, at.place, LOOK_MS, (access) => download(access, checked.url));
    return await finish(work, remaining, bytes, checked.seconds);
  } catch (error) {
    if (isStopped(work.call.signal)) await cancelQuietly(work, remaining, job);
    work.call.signal.throwIfAborted();
    if (error instanceof FileProblem) throw error;
    const { status, message } = mediaProblem(error);
    return status === 400 || status === 404
      ? unknown(ref, `the job that was ordered is not there any more: ${message}`)
      : later(work, remaining);
  }
}

/** Returns undefined if the provider of the order is no longer configured, or has no jobs. */
function jobsOf(work: MediaJob, { order }: PendingOrder) {
  const place = placeOf(work.mediaPlaces, order.ref);
  return typeof place !== 'string' && place.maker.jobs ? { place, jobs: place.maker.jobs } : undefined;
}

/** Handles an order whose answer was lost: it searches for the job if the provider supports that. */
async function findOrder(work: MediaJob, remaining: PendingOrder, why: string): Promise<ToolResult> {
  const { request } = work.wish;
  const at = jobsOf(work, remaining);
  const find = at?.jobs.find;
  let found: string | undefined;
  try {
    if (at && find)
      found = await reached(work, at.place, LOOK_MS, (access) =>
        find(access, { model: at.place.model, request }, remaining.since),
      );
  } catch (error) {
    work.call.signal.throwIfAborted();
    mediaProblem(error);
    found = LATER;
  }
  if (found === LATER && work.now() - remaining.since < FIND_MS) return later(work, remaining);
  if (found === undefined || found === LATER) return unknown(remaining.order.ref, why);
  await keepJob(work, remaining, found);
  return look(work, remaining, found);
}

async function later(work: MediaJob, rest: PendingOrder): Promise<ToolResult> {
  const { ref } = rest.order;
  const gone = work.now() - rest.since;
  if (gone > LONGEST_MS) {
    const job = work.outside.left?.task;
    if (job !== undefined) await cancelQuietly(work, rest, job);
    return toolError(
      'Timeout',
      `${ref} was not done within an hour and is waited for no longer; it may be charged for`,
    );
  }
  const { min, max } = LOOK_SECONDS;
  return {
    ok: true,
    text: '',
    pending: { later: Math.min(max, Math.max(min, Math.round(gone / 10_000))) },
  };
}

async function giveUp(work: MediaJob, remaining: PendingOrder): Promise<ToolResult> {
  const isCancelled = remaining.task !== undefined && (await cancelQuietly(work, remaining, remaining.task));
  const { ref } = remaining.order;
  if (isCancelled) await settle(work, ref, 0);
  const end = isCancelled ? 'has cancelled its job' : 'could not take its job back; it may be charged for';
  return toolError('Cancelled', `the call was stopped while ${ref} worked at it; ${ref} ${end}`);
}

/** Returns whether it was cancelled; a provider that does not answer ends its job when it chooses. */
async function cancelQuietly(work: MediaJob, rest: PendingOrder, job: string): Promise<boolean> {
  const at = jobsOf(work, rest);
  if (!at) return false;
  const cancelled = reached(untied(work), at.place, CANCEL_MS, (access) => at.jobs.cancel(access, job));
  return cancelled.then(
    () => true,
    () => false,
  );
}

/** Continues when the attempt is stopped, within its own time limit. */
function untied(work: MediaJob): MediaJob {
  return { ...work, call: { ...work.call, signal: new AbortController().signal } };
}

function unknown(ref: string, why: string): ToolFailure {
  return toolError(
    'OutcomeUnknown',
    `whether ${ref} has made it, and charges for it, is not known: ${why}. It was not ordered again.`,
  );
}
