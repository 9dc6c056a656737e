/** Makes docs/tools.md from the catalog. */
import { loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import type { Tool } from '#policy/define-tool.ts';
import { jsonSchemaOf } from '#policy/read-arguments.ts';
import { keepPage } from './generated-page.ts';

const REPLAY_WORDS: Readonly<Record<Tool['replay'], string>> = {
  readonly: 'changes nothing; run again after a crash',
  idempotent: 'safe to run again after a crash',
  verify: 'after a crash a probe finds out whether it took effect',
  once: 'never run a second time; after a crash its outcome is `OutcomeUnknown`',
};

function replayWords({ replay, onlyReads }: Tool): string {
  return `${REPLAY_WORDS[replay]}${onlyReads ? '; calls that only read are run again' : ''}`;
}

interface Property {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
}

function parameters(tool: Tool): string {
  const schema = jsonSchemaOf(tool.input);
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Property>);
  if (properties.length === 0) return 'No parameters.\n';
  const required = (schema['required'] ?? []) as readonly string[];
  const rows = properties.map(([name, property]) => {
    const standard =
      property.default === undefined ? '' : ` Default \`${JSON.stringify(property.default)}\`.`;
    const words = cell(`${property.description ?? ''}.`.replace(/\.\.$/, '.'));
    return `| \`${name}\`${required.includes(name) ? ' \\*' : ''} | ${kind(property)} | ${words}${standard} |`;
  });
  return `| Parameter | Type | Meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

function kind({ type, enum: values, minimum, maximum }: Property): string {
  if (values) return values.map((value) => `\`${String(value)}\``).join(', ');
  const from = minimum === undefined ? '' : ` ≥ ${minimum}`;
  const to = maximum === undefined ? '' : ` ≤ ${maximum}`;
  return `${type ?? 'any'}${from}${to}`;
}

function aliases(tool: Tool): string {
  const names = Object.keys(tool.aliases ?? {}).map((name) => `\`${name}\``);
  const forms = Object.entries(tool.forms ?? {}).map(([dialect, { name = tool.name, input }]) => {
    const fields = input && Object.keys(jsonSchemaOf(input)['properties'] as object);
    return `\`${name}\`${fields ? ` (${fields.join(', ')})` : ''} to models of \`${dialect}\``;
  });
  const refused = Object.keys(tool.refusedParameters ?? {}).map((name) => `\`${name}\``);
  const words = Object.entries(tool.parameterAliases ?? {}).map(([from, to]) => `\`${from}\` for \`${to}\``);
  const ignored = (tool.ignoredParameters ?? []).map((name) => `\`${name}\``);
  return [
    ...(names.length > 0 ? [`- Also called ${names.join(', ')}`] : []),
    ...(forms.length > 0 ? [`- Shown as ${forms.join(', ')}`] : []),
    ...(words.length > 0 ? [`- Understood: ${words.join(', ')}`] : []),
    ...(refused.length > 0 ? [`- Refused with the reason: ${refused.join(', ')}`] : []),
    ...(ignored.length > 0 ? [`- Taken and without effect: ${ignored.join(', ')}`] : []),
  ].join('\n');
}

function time({ duration, inline, timeoutSeconds }: Tool['limits']): string {
  const limit =
    typeof timeoutSeconds === 'number' ? `at most ${timeoutSeconds} s` : 'as long as its arguments say';
  if (inline) return `${limit}, as a local activity when it is over at once, else as an activity of its own`;
  return duration === 'short' ? `${limit}, as a local activity` : `${limit}, as an activity of its own`;
}

function section(tool: Tool): string {
  const facts = [`- After a crash: ${replayWords(tool)}`, `- Time: ${time(tool.limits)}`, aliases(tool)];
  if (tool.serial) facts.push('- Runs after the calls before it in the same answer');
  return `### ${tool.name}\n\n${tool.description}\n\n${parameters(tool)}\n${facts.filter((fact) => fact !== '').join('\n')}\n`;
}

/** Escapes what a table cell may not contain. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('*', '\\*');
}

async function page(): Promise<string> {
  const tools = (await loadCatalog(FEATURES)).list();
  const groups = [...new Set(tools.map(({ group }) => group))].toSorted();
  const parts = groups.map((group) => {
    const own = tools.filter((tool) => tool.group === group);
    return `## ${group}\n\n${own.map(section).join('\n')}`;
  });
  return `<!-- Made by scripts/generate-tools-doc.ts from activities/tools; change those. -->
# Tools

${tools.length} tools. The name of a tool is its activity type in Temporal. \\* marks what must be given; parameters that a tool
does not have are refused by name, \`null\` counts as not given, and a number or a flag in quotes is understood.

${parts.join('\n')}`;
}

keepPage('docs/tools.md', await page());
