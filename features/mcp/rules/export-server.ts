/**
 * A server in the file format of other programs and of the settings file: what differs from the defaults, and no value
 * in clear text.
 */
import type { McpCredentials, McpServerConfig } from './server.ts';

const REFERENCE = /^(?:\w+ )?secret:\/\/\S+$/;

/** A value that is no reference becomes one, to a secret that the reader of the file sets first. */
export function exportedServer(
  { name, config }: { readonly name: string; readonly config: McpServerConfig },
  credentials: McpCredentials,
): Readonly<Record<string, unknown>> {
  const references = (from: McpCredentials['env']): Record<string, string> =>
    Object.fromEntries(
      Object.entries(from).map(([key, value]) => [
        key,
        REFERENCE.test(value)
          ? value
          : `secret://${`mcp_${name}_${key}`.replace(/[^\w-]/g, '_').slice(0, 64)}`,
      ]),
    );
  const { transport, enabled, timeout_sec, credentials: whose, internal_only, ...rest } = config;
  const isUsual = (value: unknown): boolean =>
    value === '' ||
    value === false ||
    (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
  const all = { ...rest, env: references(credentials.env), headers: references(credentials.headers) };
  return {
    type: transport === 'streamable-http' ? 'http' : transport,
    ...Object.fromEntries(Object.entries(all).filter(([, value]) => !isUsual(value))),
    ...(!enabled && { disabled: true }),
    ...(timeout_sec !== 60 && { timeout_sec }),
    ...(whose !== 'shared' && { credentials: whose }),
    // The settings file has another default.
    internal_only,
  };
}
