/**
 * The container engine of TEST_DOCKER_HOST, for tests of containers, which use its first image with a name. Without it
 * they are skipped; with CI=true they fail.
 */
import type { TestContext } from 'node:test';
import { type Boxes, createEngine, type Engine } from '@tempoclaw/sandbox';
import type { BoxSettings } from '@tempoclaw/sandbox/settings';
import { boxesAt } from './bench.ts';
import { box } from './settings.ts';

const address = process.env['TEST_DOCKER_HOST'] ?? '';
if (address === '' && process.env['CI'] === 'true') throw new Error('TEST_DOCKER_HOST names no engine');

/** Why tests of containers are skipped. */
export const noEngine = address === '' ? 'TEST_DOCKER_HOST names no engine' : false;

export const engine: Engine = createEngine(address);

/** Settings of a container of the engine. */
export async function containerBox(settings: Partial<BoxSettings> = {}): Promise<BoxSettings> {
  const images = await engine.ask((docker) => docker.listImages());
  const image = images.flatMap(({ RepoTags }) => RepoTags ?? []).find((tag) => !tag.includes('<none>'));
  if (image === undefined) throw new Error(`the engine at ${address} has no image`);
  return box({ mode: 'required', image, ...settings });
}

export interface TestBoxes {
  readonly boxes: Boxes;
  readonly installation: string;
}

/** Containers of a separate installation, removed after the test. */
export function testBoxes(t: Pick<TestContext, 'after'>): TestBoxes {
  const installation = crypto.randomUUID();
  t.after(async () => {
    for (const id of await boxesOf(installation))
      await engine
        .ask((docker) => docker.getContainer(id).remove({ force: true }), 20_000)
        // It ended by itself meanwhile.
        .catch(() => undefined);
  });
  return { boxes: boxesAt(address, installation), installation };
}

/** Ids of all containers of an installation, in any state. */
export async function boxesOf(installation: string): Promise<readonly string[]> {
  const filters = { label: [`test.sandbox=${installation}`] };
  const found = await engine.ask((docker) => docker.listContainers({ all: true, filters }));
  return found.map(({ Id }) => Id);
}
