/** The input of every adapter, and the rules for addresses and keys that all of them share. */
import { ModelError } from '#domain/model/model.ts';
import { chatAddress } from '#domain/model/provider-address.ts';
import { SecretProblem } from '#domain/secret.ts';

export interface ProviderSettings {
  readonly name: string;
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly toolCallPrefix?: string | undefined;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Replaces `secret://NAME` by the secret; throws an error for the operator. */
  readonly resolveSecret: (text: string) => Promise<string>;
}

type Patience = 'firstByteTimeoutMs' | 'idleTimeoutMs';

/**
 * The address to use. A bare host gets the protocol's usual path (`/v1`), as the vendors' own SDKs and variables
 * expect. @throws ModelError BadRequest when it is not an http(s) address
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
 * The key to send; a user's own server may need none. @throws ModelError Auth when the vendor's service is used without
 * one
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

/** The configured key, if any, with its secret resolved. @throws ModelError Auth when the secret does not exist */
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
