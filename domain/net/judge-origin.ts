/**
 * Whether a request comes from a page that a local server may answer. Any page can point its own name at this machine
 * (DNS rebinding). Its browser then lets it read the answers, but still sends the page's name in `Host`. Addresses
 * cannot be used so.
 */
import { parseAddress } from '@tempoclaw/egress/rules';

export interface AllowedHosts {
  /** Accepted names without ports, besides `localhost` and addresses. */
  readonly hosts: ReadonlySet<string>;
  /** Origins that may change data besides the server's own; `*` means all. */
  readonly origins: ReadonlySet<string>;
}

export interface RequestOrigin {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

export type OriginProblem = { readonly kind: 'host' | 'origin'; readonly name: string };

const HARMLESS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Undefined when the request is allowed; otherwise the reason. Programs other than browsers need to send neither
 * header.
 */
export function originProblem(
  { hosts, origins }: AllowedHosts,
  visitor: RequestOrigin,
): OriginProblem | undefined {
  const { method, host, origin } = visitor;
  if (host !== undefined && !isOurs(nameOf(host), hosts)) return { kind: 'host', name: shown(host) };
  if (origin === undefined || HARMLESS.has(method)) return undefined;
  const isOwn = URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
  return isOwn || origins.has(origin) || origins.has('*')
    ? undefined
    : { kind: 'origin', name: shown(origin) };
}

/** Names from settings: plain names, or those of addresses such as `https://agents.example.com/base`. */
export function hostNames(...values: readonly (string | undefined)[]): ReadonlySet<string> {
  return new Set(values.flatMap((text) => (text === undefined ? [] : [nameOf(text) ?? text.toLowerCase()])));
}

/** The name in lower case, without port and final dot. */
function nameOf(text: string): string | undefined {
  const address = text.includes('://') ? text : `http://${text}`;
  if (/[\s\\@]/.test(text) || !URL.canParse(address)) return undefined;
  return new URL(address).hostname.replace(/\.$/, '');
}

function isOurs(name: string | undefined, hosts: ReadonlySet<string>): boolean {
  if (name === undefined || name === '') return false;
  if (name === 'localhost' || name.endsWith('.localhost') || hosts.has(name)) return true;
  return parseAddress(name.replace(/^\[|\]$/g, '')) !== undefined;
}

/** Shortens text that anybody may have sent. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
