/**
 * The opened secrets that this process may see: the values of `secret://` references, and what the scrubber must hide
 * (SC-2). A tenant's values are read when its first work arrives and again after a change. Each tenant's texts are
 * scrubbed only with its own values and the deployment's, so that nobody can find another's values by trying.
 */
import { registerValues } from '@tempoclaw/scrubber';
import { fillSecrets, SecretProblem, secretNamesIn } from '#domain/secret.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import { createScrubber, type Scrubber, type ScrubberOf } from './scrubber.ts';
import type { ChangeFeed } from '#store/postgres/change-feed.ts';
import { type OpenedTenant, readTenant, type ReadTenantDeps, type SealedPart } from './read-tenant.ts';

export interface Vault {
  readonly scrubberOf: ScrubberOf;
  /** Scrubs with the values known now, for errors, which cannot wait. */
  scrubberNow(tenant: string): Scrubber;
  /** Scrubs with the values of every tenant known to this process: for logs, which no tenant reads. */
  scrubberOfAll(): Scrubber;
  /** Replaces `secret://NAME` by the tenant's secrets. @throws SecretProblem */
  resolve(tenant: string, text: string): Promise<string>;
  /** The same for a setting of the deployment, from the tenant `default`; its values are hidden from every tenant. */
  resolveSetting(text: string): Promise<string>;
  /**
   * A feature's sealed values for the tenant, opened. The part must be one of those that the vault was created with.
   */
  openedOf<Opened>(tenant: string, part: SealedPart<Opened>): Promise<Opened>;
  /** The same, as far as it is known now. */
  openedNow<Opened>(tenant: string, part: SealedPart<Opened>): Opened | undefined;
}

export interface VaultParts extends ReadTenantDeps {
  readonly changes: ChangeFeed;
  /** Values of our own settings: keys, passwords, addresses with passwords. */
  readonly deploymentValues: readonly string[];
}

/** Number of tenants whose values are in memory; the one that was read first is dropped. */
const MAX_TENANTS = 1_000;
/** Values that were changed or removed may still be valid outside, or in use by a running command. */
const MAX_RETIRED = 200;

interface CachedTenant extends OpenedTenant {
  readonly retired: readonly string[];
  readonly scrubber: Scrubber;
}

interface Entry {
  /** The last reading, until a newer one is complete. */
  known: CachedTenant | undefined;
  /** Undefined when the values must be read (again). */
  current: Promise<CachedTenant> | undefined;
}

export function createVault({ changes, deploymentValues, ...deps }: VaultParts): Vault {
  const entries = new Map<string, Entry>();
  const deployment = new Set(deploymentValues);
  const withoutTenant = lazily(() => createScrubber(registerValues(deployment)));
  const ofAll = lazily(() =>
    createScrubber(
      registerValues([...deployment, ...[...entries.values()].flatMap((entry) => hiddenOf(entry.known))]),
    ),
  );

  changes.subscribe('secrets', (tenant) => {
    const changed = tenant === undefined ? [...entries.values()] : [entries.get(tenant)];
    for (const entry of changed) if (entry) entry.current = undefined;
  });

  async function read(tenant: string, before: CachedTenant | undefined): Promise<CachedTenant> {
    const opened = await readTenant(deps, tenant);
    const retired = hiddenOf(before)
      .filter((value) => !opened.hidden.has(value))
      .slice(-MAX_RETIRED);
    const own = [...opened.hidden, ...retired];
    const scrubber =
      own.length === 0 ? withoutTenant.get() : createScrubber(registerValues([...deployment, ...own]));
    return { ...opened, retired, scrubber };
  }

  function entryOf(tenant: string): Entry {
    const found = entries.get(tenant);
    if (found) return found;
    const made: Entry = { known: undefined, current: undefined };
    entries.set(tenant, made);
    const oldest = entries.size > MAX_TENANTS ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
    return made;
  }

  function knownOf(tenant: string): Promise<CachedTenant> {
    const entry = entryOf(tenant);
    if (entry.current) return entry.current;
    const reading: Promise<CachedTenant> = read(tenant, entry.known).then((known) => {
      // A newer reading may have started.
      if (entry.current === reading) {
        entry.known = known;
        ofAll.forget();
      }
      return known;
    });
    entry.current = reading;
    reading.catch(() => {
      // Waiting callers get the error; the next caller reads again.
      if (entry.current === reading) entry.current = undefined;
    });
    return reading;
  }

  async function resolve(tenant: string, text: string): Promise<string> {
    const names = secretNamesIn(text);
    if (names.length === 0) return text;
    const { values } = await knownOf(tenant);
    return fillSecrets(text, (name) => {
      const value = values.get(name);
      if (value === undefined)
        throw new SecretProblem(
          `the secret "${name}" of the tenant ${tenant} is not set or cannot be opened; set it with: npx tempoclaw secrets set ${name || 'NAME'}`,
        );
      return value;
    });
  }

  return {
    scrubberOf: async (tenant) => (await knownOf(tenant)).scrubber,
    scrubberNow: (tenant) => entries.get(tenant)?.known?.scrubber ?? withoutTenant.get(),
    scrubberOfAll: ofAll.get,
    resolve,
    openedOf: async (tenant, part) => openedIn(await knownOf(tenant), part),
    openedNow(tenant, part) {
      const known = entries.get(tenant)?.known;
      return known && openedIn(known, part);
    },
    async resolveSetting(text) {
      const names = secretNamesIn(text);
      if (names.length === 0) return text;
      const { values } = await knownOf(OPERATOR_TENANT);
      for (const name of names) {
        const value = values.get(name);
        if (value === undefined || deployment.has(value)) continue;
        deployment.add(value);
        withoutTenant.forget();
        for (const entry of entries.values()) entry.current = undefined;
      }
      return resolve(OPERATOR_TENANT, text);
    },
  };
}

function openedIn<Opened>({ parts }: CachedTenant, part: SealedPart<Opened>): Opened {
  if (!parts.has(part)) throw new Error('the vault was made without this part');
  return parts.get(part) as Opened;
}

function hiddenOf(known: CachedTenant | undefined): readonly string[] {
  return known ? [...known.retired, ...known.hidden] : [];
}

/** Created at the first use, and again after it was dropped. */
function lazily<T>(make: () => T): { get(): T; forget(): void } {
  let made: T | undefined;
  return {
    get: () => (made ??= make()),
    forget() {
      made = undefined;
    },
  };
}
