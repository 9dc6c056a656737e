/** Connects only to addresses that the rules permit, for clients and for proxies. */
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector } from 'undici';
import { judgeAddresses, judgeUrl, type UrlAllowed, type UrlRules } from './rules/judge-url.ts';
import { type EgressError, refusedBy } from './egress-error.ts';

/** Returns all addresses of a name; throws or returns none when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Milliseconds for slow resolvers and slow peers. */
const CONNECT_MS = 10_000;

/** Dials only what the rules permit: all answers of the resolver must pass, and so must the peer that was reached. */
export function guardedConnector(resolve: Resolve, rules: UrlRules): buildConnector.connector {
  return (options, callback) => {
    const { protocol, hostname, port } = options;
    const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
    const verdict = judgeUrl(`${protocol}//${host}${port ? `:${port}` : ''}/`, rules);
    if (verdict.decision === 'deny') return callback(refusedBy(verdict, hostname), null);
    const lookup = guardedLookup(resolve, verdict, rules);
    buildConnector({ timeout: CONNECT_MS, lookup, autoSelectFamily: true })(options, (error, socket) => {
      if (error) return callback(error, null);
      const reached = peerProblem(socket, verdict, rules);
      if (reached === undefined) return callback(null, socket);
      socket.destroy();
      callback(reached, null);
    });
  };
}

function peerProblem(socket: Socket, target: UrlAllowed, rules: UrlRules): EgressError | undefined {
  const verdict = judgeAddresses(target, socket.remoteAddress ? [socket.remoteAddress] : [], rules);
  return verdict.decision === 'deny' ? refusedBy(verdict, target.url) : undefined;
}

function guardedLookup(resolve: Resolve, allowed: UrlAllowed, rules: UrlRules): LookupFunction {
  const judged = callbackify(async (host: string) => {
    const addresses = await resolve(host);
    const verdict = judgeAddresses(allowed, addresses, rules);
    if (verdict.decision === 'deny') throw refusedBy(verdict, allowed.url);
    return addresses.map((address) => ({ address, family: isIP(address) }));
  });
  return (host, { all }, callback) =>
    judged(host, (error, found) => {
      const [one] = found ?? [];
      if (error) callback(error, '');
      else if (all) callback(null, found);
      else callback(null, one?.address ?? '', one?.family);
    });
}
