/** Requests to addresses that others choose: the public exports of the package, client and proxy. */
export {
  createEgress,
  EGRESS_LIMITS,
  type Egress,
  type EgressClient,
  type EgressDeps,
  type EgressUse,
} from './client.ts';
export { EgressError, type EgressProblem, isUnsent } from './egress-error.ts';
export type { EgressLimits, ExchangeRecord, RecordExchange } from './egress-log.ts';
export type { Resolve } from './guarded-connector.ts';
export type { EgressProxy, ProxyUse } from './proxy.ts';
export type { EgressSocket } from './socket.ts';
