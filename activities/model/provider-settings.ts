/** What every adapter is made from, and the rules that all of them share about addresses and keys. */
import { ModelError } from '#domain/model.ts';
import { chatAddress } from '#domain/provider-address.ts';
import { SecretProblem } from '#domain/secret.ts';

export interface ProviderSettings {
  readonly name: string;
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Puts secrets in the place of `secret://NAME`; throws with words for the operator. */
  readonly resolveSecret: (text: string) => Promise<string>;
}

type Patience = 'firstByteTimeoutMs' | 'idleTimeoutMs';

/**
 * The address to use. A bare host gets the protocol's usual path (`/v1`), as the vendors' own SDKs and variables expect.
 * @throws ModelError BadRequest when it is no http(s) address.
 */
export function baseUrlOf(settings: Pick<ProviderSettings, 'name' | 'baseUrl'>, usual: string): string {
  if (!settings.baseUrl) return usual;
  const setting = `models.providers.${settings.name}.baseUrl`;
  if (!URL.canParse(settings.baseUrl)) throw new ModelError('BadRequest', `${setting} is not an address`);
  const url = new URL(chatAddress(settings.name, settings.baseUrl));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ModelError('BadRequest', `${setting} must begin with http:// or https://`);
  }
  if (url.pathname === '/') url.pathname = new URL(usual).pathname;
  return url.href.replace(/\/$/, '');
}

/**
 * The key to send; a server of the user's own may need none.
 * @throws ModelError Auth when the vendor's service is asked without one.
 */
export async function apiKeyOf(settings: Omit<ProviderSettings, Patience>): Promise<string> {
  const key = await configuredKeyOf(settings);
  if (key) return key;
  if (settings.baseUrl) return 'none';
  throw new ModelError(
    'Auth',
    `No key is set for ${settings.name}: set models.providers.${settings.name}.apiKey (docs/models.md)`,
  );
}

/** The key of the settings, if any, with the secret that it may refer to. @throws ModelError Auth when that is not there. */
export async function configuredKeyOf(
  settings: Omit<ProviderSettings, Patience>,
): Promise<string | undefined> {
  if (!settings.apiKey) return undefined;
  try {
    return await settings.resolveSecret(settings.apiKey);
  } catch (error) {
    if (!(error instanceof SecretProblem)) throw error;
    throw new ModelError('Auth', `models.providers.${settings.name}.apiKey: ${error.message}`);
  }
}
