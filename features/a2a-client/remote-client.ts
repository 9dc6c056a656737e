/** A client for one remote agent, which reaches the network through egress alone. */
import { AGENT_CARD_PATH } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import type { UrlRules } from '@tempoclaw/egress/rules';
import type { Egress } from '#activities/egress/create-egress.ts';
import type { RemoteAgent } from './store.ts';

export interface RemotePlace {
  readonly egress: Egress;
  readonly resolveOf: (tenant: string, text: string) => Promise<string>;
  readonly agent: RemoteAgent;
  readonly call: {
    readonly tenant: string;
    readonly callId: string;
    readonly egress: UrlRules;
    readonly signal: AbortSignal;
  };
}

const NOT_ALLOWED: readonly number[] = [401, 403];

const LIMITS = { redirects: 0, bytes: 8_388_608, totalMs: 30_000, idleMs: 30_000 };
/** Of one file that an answer names. */
const FILE_LIMITS = { redirects: 0, bytes: 20_000_000, totalMs: 60_000, idleMs: 30_000 };

/** A file at the place of the agent; undefined for an address elsewhere. @throws EgressError, RemoteRefusal */
export type FetchFile = (url: string) => Promise<Buffer | undefined>;

/** It does not talk with us: its card or its answer says so. */
export class RemoteRefusal extends Error {}

/** Throws RemoteRefusal, EgressError, and what the SDK throws. */
export async function withRemote<Result>(
  { egress, resolveOf, agent, call }: RemotePlace,
  use: (client: Client, fetchFile: FetchFile) => Promise<Result>,
): Promise<Result> {
  const { tenant, callId, egress: rules, signal } = call;
  const labels = { tenant, purpose: 'a2a', callId };
  const client = egress.open({ labels, rules, limits: LIMITS });
  const files = egress.open({ labels, rules, limits: FILE_LIMITS });
  try {
    const authorization =
      agent.credential === null ? {} : { authorization: await resolveOf(tenant, agent.credential) };
    const fetchImpl = (async (url: string | URL, init: RequestInit = {}) => {
      const headers = { ...Object.fromEntries(new Headers(init.headers)), ...authorization };
      const response = await client.fetch(String(url), { ...init, headers, signal } as never);
      if (NOT_ALLOWED.includes(response.status))
        throw new RemoteRefusal(`it answered ${response.status}; check its credential`);
      return response;
    }) as unknown as typeof fetch;
    const base = agent.url.endsWith('/') ? agent.url : `${agent.url}/`;
    const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(base, AGENT_CARD_PATH);
    // The credential is for this place only, whatever a card says.
    const { origin } = new URL(base);
    const own = card.supportedInterfaces.filter(({ url }) => URL.parse(url)?.origin === origin);
    if (own.length === 0) throw new RemoteRefusal(`its card names no interface at ${origin}`);
    const fetchFile: FetchFile = async (url) => {
      if (URL.parse(url)?.origin !== origin) return undefined;
      const response = await files.fetch(url, { headers: authorization, signal });
      if (!response.ok) throw new RemoteRefusal(`it answered ${response.status}`);
      return Buffer.from(await response.arrayBuffer());
    };
    const transports = [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })];
    return await use(
      await new ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces: own }),
      fetchFile,
    );
  } finally {
    await Promise.all([client.close(), files.close()]);
  }
}
