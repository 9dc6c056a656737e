/** Opens the places of the settings where artifacts are. */
import { openObjectStore } from './objects/open-object-store.ts';
import type { Config } from '#config';
import type { Pool } from '#store/postgres/pool.ts';
import type { ArtifactPlaces } from './store.ts';

export function openArtifacts(
  pool: Pool,
  { artifacts: { store, s3 } }: Pick<Config, 'artifacts'>,
  resolveSetting: (text: string) => Promise<string>,
): ArtifactPlaces {
  const objects =
    store === undefined ? undefined : openObjectStore({ store, s3 }, 'artifacts', resolveSetting);
  return { pool, objects };
}
