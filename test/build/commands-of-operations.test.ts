import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Command } from 'commander';
import { addCommands } from '#cli/api-commands.ts';
import { commandsOf } from '#cli/commands.ts';
import { createProgram } from '#cli/program.ts';
import type { Operation, Resource } from '#domain/resource/define-resource.ts';
import { WITHOUT_RESOURCE } from '#domain/resource/without-resource.ts';
import { FEATURES } from '#features';
import { operationsOf } from '#test/support/operations.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';

const ROOT = new URL('../../', import.meta.url);

async function definedOperations(): Promise<Map<string, Operation>> {
  const defined = new Map<string, Operation>();
  const files = ['domain/resource/*.ts', 'features/*/*resource.ts', 'features/*/resource/*.ts'];
  for (const file of globSync(files, { cwd: ROOT })) {
    const module = (await import(new URL(file, ROOT).href)) as Record<string, Partial<Resource> | undefined>;
    for (const resource of Object.values(module))
      for (const [id, operation] of Object.entries(resource?.operations ?? {})) defined.set(id, operation);
  }
  return defined;
}

/** Path to description of each command. */
async function wholeTree(): Promise<Map<string, string>> {
  const entries = commandsOf(FEATURES);
  const program = createProgram(entries);
  const tree = new Map<string, string>();
  const walk = (command: Command, path: string): void => {
    tree.set(path, command.description());
    for (const below of command.commands) walk(below, `${path} ${below.name()}`);
  };
  for (const command of program.commands) {
    for (const load of entries.find(({ name }) => name === command.name())?.loads ?? []) {
      const loaded = await load();
      if ('register' in loaded) loaded.register(command, async () => program);
      else addCommands(command, loaded);
    }
    walk(command, command.name());
  }
  return tree;
}

describe('IN-6 each operation of the API', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  test('has its command, or its definition says which one uses it or why there is none', async () => {
    const { body } = await api.ask('GET', '/openapi.json', { key: null });
    const [defined, tree] = [await definedOperations(), await wholeTree()];
    const helps = new Set(tree.values());
    for (const { id } of operationsOf(body)) {
      const command = defined.get(id)?.command ?? WITHOUT_RESOURCE[id];
      assert.ok(command, `${id} has neither`);
      if ('by' in command) assert.ok(tree.has(command.by), `${id}: there is no command ${command.by}`);
      else if ('help' in command) assert.ok(helps.has(command.help), `${id}: no command has its help`);
      else assert.match(command.none, /\w/);
    }
  });
});
