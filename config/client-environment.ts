/**
 * The few settings of the command line's client commands. They need no settings file, and they load without its schema.
 */
import type { Environment } from './environment.ts';

export interface ClientEnvironment {
  /** TEMPOCLAW_URL: the API to call. */
  readonly url: string | undefined;
  /** TEMPOCLAW_API_KEY. */
  readonly apiKey: string | undefined;
  /** TEMPOCLAW_STATE_DIR: where run.json is. */
  readonly stateDir: string | undefined;
}

export function clientEnvironment(env: Environment = process.env): ClientEnvironment {
  return {
    url: env['TEMPOCLAW_URL'] || undefined,
    apiKey: env['TEMPOCLAW_API_KEY']?.trim() || undefined,
    stateDir: env['TEMPOCLAW_STATE_DIR'] || undefined,
  };
}

/** TEMPOCLAW_PASSPHRASE: what files of tenants are sealed with. */
export function passphraseVariable(env: Environment = process.env): string | undefined {
  return env['TEMPOCLAW_PASSPHRASE'] || undefined;
}
