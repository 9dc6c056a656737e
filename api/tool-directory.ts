/** The tools of agents as the API shows and checks them. */
import type { AgentCatalogs } from '#policy/agent-catalogs.ts';
import type { ToolDialect } from '#domain/agent.ts';
import type { OfferedTool } from '#domain/model/model.ts';
import { policyToolOf } from '#policy/call-rules.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { Tool } from '#policy/define-tool.ts';
import { jsonSchemaOf } from '#policy/read-arguments.ts';
import type { ToolDescription, ToolDirectory } from './deps.ts';

/** `native` contains the tools of every agent; `catalogs` adds those that their tenants have made. */
export function createToolDirectory(native: Catalog, catalogs: AgentCatalogs): ToolDirectory {
  // Schemas are converted to JSON once for each tool.
  const described = new WeakMap<Tool, ToolDescription>();
  const describe = (tool: Tool): ToolDescription => {
    const known = described.get(tool) ?? descriptionOf(tool);
    described.set(tool, known);
    return known;
  };
  const shownIn = (catalog: Catalog, dialect: ToolDialect = 'canonical'): ToolDescription[] =>
    catalog.list().map((tool) => {
      const [form] = dialect === 'canonical' ? [] : catalog.offer(dialect, [tool.name]);
      return { ...describe(tool), ...(form && formOf(form)) };
    });
  return {
    isNative: (name) => native.find(name) !== undefined,
    native: (dialect) => shownIn(native, dialect),
    async list(tenant, agent, dialect) {
      return shownIn(await catalogs.of(tenant, agent), dialect);
    },
    async policyTools(tenant, agent) {
      return (await catalogs.of(tenant, agent)).list().map(policyToolOf);
    },
    async find(tenant, agent, name) {
      const found = (await catalogs.of(tenant, agent)).find(name);
      return found && describe(found.tool);
    },
    async check(tenant, agent, name, args) {
      const read = (await catalogs.of(tenant, agent)).parse(name, args);
      return read.ok ? { ok: true, tool: read.tool.name } : read;
    },
  };
}

function formOf({ name, description, parameters }: OfferedTool) {
  return { name, description, parameters: { $schema: DRAFT, ...parameters } };
}

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

function descriptionOf(tool: Tool): ToolDescription {
  return {
    name: tool.name,
    description: tool.description,
    group: tool.group,
    replay: tool.replay,
    parameters: { $schema: DRAFT, ...jsonSchemaOf(tool.input) },
    aliases: Object.keys(tool.aliases ?? {}),
  };
}
