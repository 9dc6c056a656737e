/** All tools (EX-1): one file each under tools/<group>/, found by name or alias, offered to models as JSON Schema. */
import { readdir } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { ToolDialect } from '#domain/agent.ts';
import type { Feature } from '#domain/feature.ts';
import type { OfferedTool } from '#domain/model/model.ts';
import type { Tool, ToolAlias } from './define-tool.ts';
import { nearest } from '#domain/text/nearest-name.ts';
import { type Arguments, jsonSchemaOf, readArguments } from './read-arguments.ts';

export interface FoundTool {
  readonly tool: Tool;
  /** The alias, when the name was not the canonical one. */
  readonly alias?: ToolAlias;
}

export interface ParsedCall {
  readonly ok: true;
  readonly tool: Tool;
  /** The input of `tool.run`. */
  readonly input: unknown;
  /** Canonical and validated arguments as JSON: they are judged, shown, digested and recorded. */
  readonly args: Arguments;
}

export interface UnreadCall {
  readonly ok: false;
  readonly code: 'InvalidArgs' | 'NotFound';
  readonly message: string;
}

interface ToolSet {
  /** Lists the tools in the order of registration. */
  list(): readonly Tool[];
  find(nameOrAlias: string): FoundTool | undefined;
}

export interface Catalog extends ToolSet {
  /** This catalog with more tools at its end; tools whose names are taken, as a name or alias, are left out. */
  with(more: readonly Tool[]): Catalog;
  /** The same tools; the names that models of this dialect see take precedence. */
  in(dialect: ToolDialect): Catalog;
  parse(nameOrAlias: string, args: unknown): ParsedCall | UnreadCall;
  /** The named tools as a model sees them in the dialect. Unknown names are left out. */
  offer(dialect: ToolDialect, names: readonly string[]): readonly OfferedTool[];
  /** The call in a few words, for people; '' when the arguments do not fit the tool. */
  summaryOf(tool: Tool, input: unknown): string;
}

/**
 * Of tools with one name the last one is used, at the position of the first. Throws for a tool that breaks the rules.
 */
export function createCatalog(tools: readonly Tool[]): Catalog {
  const byName = new Map<string, Tool>();
  const aliases = new Map<string, { owner: string; alias: ToolAlias }>();

  for (const tool of tools) {
    const fault = faultOf(tool, aliases);
    if (fault !== undefined) throw new Error(`tool ${tool.name}: ${fault}`);
    for (const [name, { owner }] of aliases) if (owner === tool.name) aliases.delete(name);
    for (const [name, alias] of Object.entries(tool.aliases ?? {}))
      aliases.set(name, { owner: tool.name, alias });
    byName.set(tool.name, tool);
  }

  const find = (name: string): FoundTool | undefined => {
    const tool = byName.get(name);
    if (tool) return { tool };
    const known = aliases.get(name);
    const owner = known && byName.get(known.owner);
    return known && owner ? { tool: owner, alias: known.alias } : undefined;
  };

  return catalogOf({ find, list: () => [...byName.values()] });
}

function catalogOf({ find, list }: ToolSet): Catalog {
  return {
    list,
    find,
    with(more) {
      const added = new Map(more.filter(({ name }) => !find(name)).map((tool) => [tool.name, tool]));
      const others = new Map<string, FoundTool>();
      for (const tool of added.values())
        for (const [name, alias] of Object.entries(tool.aliases ?? {}))
          if (!added.has(name) && !find(name)) others.set(name, { tool, alias });
      const foundIn = (tool: Tool | undefined): FoundTool | undefined => tool && { tool };
      return catalogOf({
        list: () => [...list(), ...added.values()],
        find: (name) => foundIn(added.get(name)) ?? others.get(name) ?? find(name),
      });
    },
    in(dialect) {
      if (dialect === 'canonical') return this;
      const shown = new Map<string, FoundTool>();
      for (const tool of list()) {
        const { name, toCanonical } = tool.forms?.[dialect] ?? {};
        const known = name ?? (toCanonical && tool.name);
        // Native tools come first, and no other takes their names.
        if (known !== undefined && !shown.has(known))
          shown.set(known, toCanonical ? { tool, alias: { toCanonical } } : foundAs(tool, known));
      }
      return catalogOf({ list, find: (name) => shown.get(name) ?? find(name) });
    },
    parse(name, args) {
      const found = find(name);
      if (!found) return { ok: false, code: 'NotFound', message: unknownTool(name, list()) };
      const read = readArguments(found.tool, found.alias, args);
      if (!read.ok) return { ok: false, code: 'InvalidArgs', message: read.message };
      const other = found.tool.redirect?.(read.args);
      if (other) return this.parse(other.tool, other.args);
      return { ok: true, tool: found.tool, input: read.input, args: read.args };
    },
    offer(dialect, names) {
      return names.flatMap((name) => {
        const tool = find(name)?.tool;
        return tool ? [offered(tool, dialect)] : [];
      });
    },
    summaryOf(tool, input) {
      const read = tool.input.safeParse(input);
      return read.success ? (tool.summary?.(read.data) ?? '') : '';
    },
  };
}

function foundAs(tool: Tool, name: string): FoundTool {
  const alias = tool.aliases?.[name];
  return alias ? { tool, alias } : { tool };
}

function unknownTool(name: string, known: readonly Tool[]): string {
  const near = nearest(
    name,
    known.map((tool) => tool.name),
  );
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  return `there is no tool "${name.slice(0, 64)}"${hint}`;
}

function offered(tool: Tool, dialect: ToolDialect): OfferedTool {
  const form = dialect === 'canonical' ? undefined : tool.forms?.[dialect];
  return {
    name: form?.name ?? tool.name,
    description: form?.description ?? tool.description,
    parameters: parametersOf(form?.input ?? tool.input),
    ...(tool.outside ? { outside: true as const } : {}),
  };
}

const PARAMETERS = new WeakMap<object, OfferedTool['parameters']>();

function parametersOf(schema: Tool['input']): OfferedTool['parameters'] {
  const known = PARAMETERS.get(schema);
  if (known) return known;
  const made = { ...jsonSchemaOf(schema), additionalProperties: false };
  PARAMETERS.set(schema, made);
  return made;
}

const NAME = /^[a-z][a-z0-9_]{0,63}$/i;

/** Says why a tool may not be registered; undefined when it may. */
function faultOf(tool: Tool, aliases: ReadonlyMap<string, { owner: string }>): string | undefined {
  if (!NAME.test(tool.name)) return 'its name must be letters, digits and underscores, at most 64';
  if (tool.description.trim() === '') return 'it has no description';
  for (const [name, property] of Object.entries(parametersOf(tool.input).properties ?? {})) {
    const { description } = property as { description?: string };
    if (description === undefined || description === '') return `its parameter ${name} has no description`;
  }
  if ((tool.replay === 'verify') !== (tool.probe !== undefined || tool.mayContinueOutside === true))
    return 'a tool of class verify has a probe or looks for what it left outside, and no other does';
  for (const name of Object.keys(tool.aliases ?? {})) {
    const owner = aliases.get(name)?.owner;
    if (name === tool.name) return `its alias ${name} is its own name`;
    if (owner !== undefined && owner !== tool.name) return `its alias ${name} is taken by ${owner}`;
  }
  return undefined;
}

const GROUPS_DIR = new URL('../activities/tools/', import.meta.url);

/**
 * Imports every tools/<group>/<name>.ts of `dir` in the order of group and file name. Throws with the file's name when
 * it exports no `tool`, when its name or group differs from its file and folder, or when a name is used twice.
 */
export async function readToolFolder(dir: URL): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  const owners = new Map<string, string>();
  for (const file of await toolFiles(dir)) {
    const { tool } = (await import(new URL(file, dir).href)) as { tool?: Tool };
    if (tool === undefined) throw new Error(`tools/${file}: exports no \`tool\``);
    const [group, stem] = file.replace(/\.[jt]s$/, '').split('/');
    if (tool.name !== stem?.replaceAll('-', '_'))
      throw new Error(`tools/${file}: the tool is named ${tool.name}; file and name must agree`);
    if (tool.group !== group)
      throw new Error(`tools/${file}: the tool is of group ${tool.group}, not ${group}`);
    for (const name of [tool.name, ...Object.keys(tool.aliases ?? {})]) {
      const other = owners.get(name);
      if (other !== undefined) throw new Error(`tools/${file}: the name ${name} is taken by tools/${other}`);
      owners.set(name, file);
    }
    try {
      createCatalog([tool]);
    } catch (error) {
      throw new Error(`tools/${file}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
    tools.push(tool);
  }
  return tools;
}

/** The tools of the core and of the features, in the order of group and name. Throws when two share a name. */
export async function loadTools(features: readonly Pick<Feature, 'tools'>[]): Promise<readonly Tool[]> {
  const loads = features.flatMap(({ tools = [] }) => tools.map((load) => load()));
  const added = (await Promise.all(loads)).map(({ tool }) => tool);
  const tools = [...(await readToolFolder(GROUPS_DIR)), ...added];
  const owners = new Map<string, string>();
  for (const { name, aliases } of tools)
    for (const each of [name, ...Object.keys(aliases ?? {})]) {
      const other = owners.get(each);
      if (other !== undefined) throw new Error(`the tools ${other} and ${name} are both named ${each}`);
      owners.set(each, name);
    }
  return tools.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

export async function loadCatalog(features: readonly Pick<Feature, 'tools'>[]): Promise<Catalog> {
  return createCatalog(await loadTools(features));
}

function orderOf({ group, name }: Tool): string {
  return `${group}/${name.replaceAll('_', '-')}`;
}

async function toolFiles(dir: URL): Promise<string[]> {
  const base = pathToFileURL(`${decodeURIComponent(dir.pathname).replace(/\/$/, '')}/`);
  const names = await readdir(base, { recursive: true });
  return names
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /^[a-z_]+\/[a-z0-9-]+\.[jt]s$/.test(name))
    .sort();
}
