/** Context files and memory of agents. */
import { type DocumentKind, documentKind, isDocumentPath } from '#domain/files/document.ts';
import { type Findings, HOLDS_SECRET, holdsSecret } from './findings.ts';
import type { SourceFolder } from './source-folder.ts';

export function addDocument(
  findings: Findings,
  agent: string,
  path: string,
  text: string,
  user: string | null = null,
): void {
  const what = `file ${path} of ${agent}${user === null ? '' : ` for ${user}`}`;
  const kind: DocumentKind | undefined = documentKind(path);
  if (kind === 'generated') findings.remarks.push({ what, why: 'TempoClaw generates it' });
  else if (!isDocumentPath(path)) findings.remarks.push({ what, why: 'it is no context file and no memory' });
  else if (holdsSecret(text)) findings.remarks.push({ what, why: HOLDS_SECRET });
  else if (text.trim() !== '') findings.documents.push({ agent, user, path, text });
}

/** Adds the context files and the memory that stand in a folder; other files are no documents. */
export function addDocumentsOf(
  findings: Findings,
  source: SourceFolder,
  agent: string,
  folder: string,
  user: string | null = null,
): void {
  const paths = [
    ...source.files(folder),
    ...source.files(`${folder}/memory`).map((name) => `memory/${name}`),
  ].filter((path) => documentKind(path) !== undefined);
  for (const path of paths) {
    const text = source.text(`${folder}/${path}`);
    if (text !== undefined) addDocument(findings, agent, path, text, user);
  }
}
