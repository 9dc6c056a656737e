/** What a process needs to seal, open and hide secrets; the same for workers and API processes. */
import { createChangeFeed, type ChangeFeed } from '#store/postgres/change-feed.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { RowParts } from '#store/row-parts.ts';
import { createSealer, type Sealer } from '#store/seal.ts';
import { type KeySettings, loadMasterKeys } from './master-key.ts';
import { createVault, type Vault } from './vault.ts';

export interface Secrets {
  readonly sealer: Sealer;
  readonly vault: Vault;
  /** The first seals, all open. Other keys are derived from them; they must never be shown or stored. */
  readonly masterKeys: readonly Buffer[];
  readonly changes: ChangeFeed;
  close(): Promise<void>;
}

/** @throws Error when the master key is missing, weak or not the one that rows were sealed with. */
export async function openSecrets(input: {
  readonly settings: KeySettings;
  readonly databaseUrl: string;
  readonly pool: Pool;
  /** Secrets in the settings. */
  readonly deploymentValues: readonly string[];
  /** Sealed values of features are opened and hidden too, and their keys are counted. */
  readonly rows: RowParts;
  readonly onError: (error: unknown) => void;
}): Promise<Secrets> {
  const { pool, databaseUrl, onError } = input;
  const keys = await loadMasterKeys(input.settings, pool, input.rows);
  const sealer = createSealer(keys);
  const changes = createChangeFeed({ databaseUrl, pool, onError });
  const deploymentValues = [...input.deploymentValues, ...keys.map((key) => key.toString('base64'))];
  const sealedParts = input.rows.flatMap(({ sealedPart }) => sealedPart ?? []);
  const vault = createVault({ pool, sealer, sealedParts, changes, deploymentValues, onError });
  return { sealer, vault, masterKeys: keys, changes, close: () => changes.close() };
}
