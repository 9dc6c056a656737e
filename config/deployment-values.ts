/** The secrets among the settings: what the scrubber hides from everybody (SC-2). */
import type { ParsedConfig } from './schema.ts';

/** A password of the address that is a plain word (`postgres`) would be hidden wherever that word stands. */
const LEAST_PASSWORD = 12;

/** Values that must not be shown anywhere; references (`secret://`) are not among them. */
export function deploymentValues(
  config: Pick<
    ParsedConfig,
    'models' | 'encryption' | 'approvals' | 'web' | 'media' | 'mail' | 'mcp' | 'workspaces' | 'artifacts'
  > & {
    readonly database: Pick<ParsedConfig['database'], 'url'>;
    readonly temporal: Pick<ParsedConfig['temporal'], 'apiKey'>;
  },
): readonly string[] {
  const keys = Object.values(config.models.providers).map((provider) => provider.apiKey);
  const { key, previousKeys } = config.encryption;
  const { brave, json } = config.web.search;
  // Which of an engine's headers is its key is not known; what says how to answer is none.
  const servers = Object.values(config.mcp.servers).flatMap((server) => Object.entries(server.headers));
  const headers = [...Object.entries(json?.headers ?? {}), ...servers].flatMap(([name, value]) =>
    /^(?:accept|content-type|user-agent)/i.test(name) ? [] : [value],
  );
  const given = [
    passwordOf(config.database.url),
    passwordOf(config.mail.url),
    config.temporal.apiKey,
    key,
    config.approvals.decisionToken.secret,
    brave.apiKey,
    config.media.elevenlabs.apiKey,
    config.workspaces.s3.secretAccessKey,
    config.artifacts.s3.secretAccessKey,
  ];
  return [...given, ...keys, ...headers, ...previousKeys].flatMap((value) =>
    value === undefined || value.includes('secret://') ? [] : [value],
  );
}

function passwordOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { password } = new URL(url);
  const decoded = decodeOr(password);
  const isMixed = /[a-z]/i.test(decoded) && /\d/.test(decoded);
  return isMixed || decoded.length >= LEAST_PASSWORD ? decoded : undefined;
}

/** A stray `%` in a password is not a mistake to die of. */
function decodeOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
