/** What a call should make, which providers it may use, and how to reach a provider. */
import type { PendingExternalCall } from '#domain/turn/pending-call.ts';
import type { MediaProvider, MediaRequest } from '../contract.ts';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { BudgetLedger } from '#store/budgets/budget-ledger.ts';
import type { BudgetGuard } from '#activities/budgets/budget-guard.ts';
import type { Egress } from '#activities/egress/create-egress.ts';
import { operatorRules } from '#activities/egress/operator-rules.ts';
import type { Media } from '../reading/media-reading-tools.ts';
import type { Files } from '#activities/workspace/contract.ts';
import { type MediaAccess, MediaProblem } from './media-maker.ts';
import type { MediaPlace, ProviderParts } from './reach-provider.ts';

export interface MediaWish {
  readonly request: MediaRequest;
  /** Replaces the settings' chain. */
  readonly provider?: MediaProvider | undefined;
  /** Model of the first provider that is called; the others use their own. */
  readonly model?: string | undefined;
  /** The name of its file. */
  readonly filename_hint?: string | undefined;
  /** The first picture of a video: `artifact:ID`, a path of the workspace, or an address. */
  readonly image_path?: string | undefined;
}

export interface MediaParts {
  readonly mediaPlaces: ProviderParts;
  readonly egress: Egress;
  readonly egressSettings: EgressSettings;
  readonly resolveSecret: (text: string) => Promise<string>;
  readonly files: Pick<Files, 'readBytes' | 'write'>;
  readonly open: Media['open'];
  readonly budgets: Pick<BudgetGuard, 'request'>;
  readonly budgetLedger: Pick<BudgetLedger, 'reserve' | 'settle' | 'noteUses'>;
  readonly now: () => number;
}

/** Bytes of the result. Base64 and hex are larger. */
export const MAX_BYTES = 64 * 1024 * 1024;

/** A recorded order. */
export type PendingOrder = PendingExternalCall & Required<Pick<PendingExternalCall, 'order'>>;

export interface MediaJob extends MediaParts {
  readonly call: RunningCall;
  readonly outside: NonNullable<RunningCall['outside']>;
  readonly wish: MediaWish;
}

/** Calls the provider through an egress client of its own. */
export async function reached<Result>(
  { egress, egressSettings, resolveSecret, call }: MediaJob,
  place: MediaPlace,
  totalMs: number,
  use: (access: MediaAccess) => Promise<Result>,
): Promise<Result> {
  const { tenant, callId, signal } = call;
  const client = egress.open({
    labels: { tenant, purpose: 'media', callId },
    rules: operatorRules(place, egressSettings),
    limits: { bytes: 2 * MAX_BYTES, totalMs, idleMs: totalMs, redirects: 0 },
  });
  try {
    const key = await resolveSecret(place.key);
    const { fetch, connect } = client;
    const time = AbortSignal.any([signal, AbortSignal.timeout(totalMs)]);
    return await use({ key, base: place.url, fetch, connect, signal: time });
  } finally {
    await client.close();
  }
}

/** Downloads from where the provider has put it, without the key, which is only for the provider itself. */
export async function download({ fetch, signal }: MediaAccess, url: string): Promise<Uint8Array> {
  const response = await fetch(url, { signal });
  if (!response.ok)
    throw new MediaProblem('lost', `what it made is not to be had: the answer was ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
