/** What a process needs to seal, to open and to hide secrets; the same for workers and API processes. */
import type { Feature } from '#domain/feature.ts';
import { createChangeFeed, type ChangeFeed } from '#store/change-feed.ts';
import type { Pool } from '#store/pool.ts';
import { createSealer, type Sealer } from '#store/seal.ts';
import { type KeySettings, loadMasterKeys } from './master-key.ts';
import { createVault, type Vault } from './vault.ts';

export interface Secrets {
  readonly sealer: Sealer;
  readonly vault: Vault;
  /** The first seals, all open. For deriving others; never to be shown or kept. */
  readonly masterKeys: readonly Buffer[];
  readonly changes: ChangeFeed;
  close(): Promise<void>;
}

/** @throws Error when the master key is missing, weak or not the one that rows were sealed with. */
export async function openSecrets(given: {
  readonly settings: KeySettings;
  readonly databaseUrl: string;
  readonly pool: Pool;
  /** Secrets among the settings. */
  readonly deploymentValues: readonly string[];
  /** What they keep sealed is opened and hidden too. */
  readonly features: readonly Pick<Feature, 'sealed'>[];
  readonly onError: (error: unknown) => void;
}): Promise<Secrets> {
  const { pool, databaseUrl, onError } = given;
  const keys = await loadMasterKeys(given.settings, pool);
  const sealer = createSealer(keys);
  const changes = createChangeFeed({ databaseUrl, pool, onError });
  const deploymentValues = [...given.deploymentValues, ...keys.map((key) => key.toString('base64'))];
  const modules = await Promise.all(given.features.flatMap(({ sealed }) => sealed?.() ?? []));
  const sealedParts = modules.map(({ sealedPart }) => sealedPart);
  const vault = createVault({ pool, sealer, sealedParts, changes, deploymentValues, onError });
  return { sealer, vault, masterKeys: keys, changes, close: () => changes.close() };
}
