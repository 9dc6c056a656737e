/** How the servers of an installation are reached. */
import type { Config } from '#config';
import { temporalConnection } from '#config';

type Target = ReturnType<typeof temporalConnection>;

/** What a connection to the server at `address` needs: the settings' own options, or those of a dev server of ours. */
export function connectionTo(config: Config, address: string): Target {
  return config.temporal.address === address ? temporalConnection(config) : { address };
}

/** The API's version, when it is ready. Throws the reason when it is not. */
export async function askApi(url: string, timeoutMs: number): Promise<string> {
  const ask = (path: string): Promise<Response> =>
    fetch(`${url}${path}`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    });
  const [ready, about] = await Promise.all([ask('/readyz'), ask('/')]);
  const { version } = (await about.json()) as { version: string };
  if (ready.ok) return version;
  const { detail } = (await ready.json()) as { detail?: string };
  throw new Error(`/readyz answers ${ready.status}${detail === undefined ? '' : `: ${detail}`}`);
}

/** Why a start cannot use the server of the settings, and what to do about it. */
export function noTemporal(address: string, namespace: string, error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  if (/\bnot found\b/i.test(words))
    return `Temporal at ${address} has no namespace ${namespace}. Create it, or set TEMPORAL_NAMESPACE: temporal operator namespace create --namespace ${namespace}`;
  return (
    `Temporal at ${address}, namespace ${namespace}, cannot be used: ${words.replace(/\.+$/, '')}. Check TEMPORAL_ADDRESS ` +
    'and TEMPORAL_NAMESPACE, or unset the address to have a dev server started here.'
  );
}
