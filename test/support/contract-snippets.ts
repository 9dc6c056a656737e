/** The code of docs/temporal-contract.md, so that tests run what readers copy. */
import { readFile } from 'node:fs/promises';

export interface ContractSnippets {
  /** All Python blocks, as one module. */
  readonly python: string;
  /** All Go blocks, as one file of the package that the first one names. */
  readonly go: string;
  /** Shell blocks with a mark `<!-- test: name -->`, by name. */
  readonly shell: ReadonlyMap<string, string>;
}

export async function readContractSnippets(): Promise<ContractSnippets> {
  const text = await readFile(new URL('../../docs/temporal-contract.md', import.meta.url), 'utf8');
  const blocks = (language: string): string =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))]
      .map((found) => found[1] ?? '')
      .join('\n\n');
  const shell = [...text.matchAll(/^<!-- test: ([a-z-]+) -->\n```sh\n(.*?)^```$/gms)].map(
    (found): [string, string] => [found[1] ?? '', found[2] ?? ''],
  );
  return { python: blocks('python'), go: blocks('go'), shell: new Map(shell) };
}
