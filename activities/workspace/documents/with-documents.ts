/**
 * Context files and memory among the files of a workspace (VF-1 to VF-3): a path is a row if the call's user has one,
 * otherwise a file. Only reads continue to the disk; a write at such a path writes a row. The row is authoritative; the
 * disk has copies.
 */
import { Readable } from 'node:stream';
import { DOCUMENT_LIMITS, MEMORY_FOLDER } from '#domain/files/document.ts';
import { type DocumentRow, listDocuments } from '#store/files/document-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { fileDigest } from '../change-journal.ts';
import { createDocumentCopies } from './document-copies.ts';
import { createDocumentRows, hasDocuments } from './document-rows.ts';
import { FileProblem } from '../file-problem.ts';
import type { Entry, Files, FileScope } from '../contract.ts';
import { readPage, sourceOf } from '../read-page.ts';
import { makeWorkspace } from '../workspace-folder.ts';

export function withDocuments(files: Files, pool: Pool): Files {
  const copies = createDocumentCopies(pool);
  const rows = createDocumentRows(pool, copies, files);

  const refresh = async ({ workspace, workspaceFrom, documents }: FileScope): Promise<readonly string[]> => {
    if (!documents || documents.version === null) return [];
    await makeWorkspace(workspace, workspaceFrom);
    return copies.refresh(workspace, documents);
  };

  return {
    async readPage(scope, path, request) {
      const text = await rows.text(scope, path);
      return text === undefined
        ? files.readPage(scope, path, request)
        : readPage(sourceOf(text), request, path);
    },

    async readBytes(scope, path, max) {
      const text = await rows.text(scope, path);
      if (text === undefined) return files.readBytes(scope, path, max);
      const bytes = Buffer.from(text);
      return bytes.length > max ? undefined : bytes;
    },

    async openRead(scope, path) {
      const text = await rows.text(scope, path);
      if (text === undefined) return files.openRead(scope, path);
      const bytes = Buffer.from(text);
      return { bytes: bytes.length, version: fileDigest(bytes), stream: Readable.from([bytes]) };
    },

    async write(scope, path, content, check) {
      const place = await rows.rowToChange(scope, path);
      if (!place) return files.write(scope, path, content, check);
      const bytes = await collect(content);
      let created = false;
      await rows.change(
        scope,
        place,
        path,
        true,
        (old) => {
          check?.(old === null ? undefined : fileDigest(old));
          created = old === null;
          return bytes;
        },
        true,
      );
      return { created, bytes: bytes.length, version: fileDigest((await rows.text(scope, path)) ?? null) };
    },

    async change(scope, path, mayCreate, by) {
      const place = await rows.rowToChange(scope, path);
      return place
        ? rows.change(scope, place, path, mayCreate, by)
        : files.change(scope, path, mayCreate, by);
    },

    async remove(scope, path, check) {
      const place = await rows.rowAt(scope, path);
      const isRow = place && (await rows.text(scope, path).then((text) => text !== undefined, refuseOther));
      if (!place || isRow === false) return files.remove(scope, path, check);
      // Its row is gone already.
      if (isRow === null) return;
      // Its versions stay.
      await rows.change(scope, place, path, false, (old) => {
        check(old ?? Buffer.alloc(0));
        return null;
      });
    },

    async list(scope, path, limit) {
      const place = hasDocuments(scope) ? await rows.placeOf(scope, path) : undefined;
      if (!place || !mayHoldRows(place.inside)) return files.list(scope, path, limit);
      await scope.origins?.readDocuments(place.inside);
      const documents = await listDocuments(pool, place.access);
      const isRow = new Set(documents.map((row) => row.path));
      const stale = Object.keys(await copies.listed(scope.workspace)).filter((each) => !isRow.has(each));
      const ours = childrenOf(documents, place.inside);
      const there = await files.list(scope, path, limit).catch((error: unknown) => {
        if (ours.length === 0 || !(error instanceof FileProblem && error.code === 'FileNotFound'))
          throw error;
        return { entries: [], total: 0 };
      });
      const remaining = there.entries.filter(({ name }) => !stale.includes(joined(place.inside, name)));
      const byName = new Map([...remaining, ...ours].map((entry) => [entry.name, entry]));
      const entries = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, limit);
      return { ...there, entries, total: there.total - there.entries.length + byName.size };
    },

    async hold(scope, path, use) {
      await refresh(scope);
      const place = hasDocuments(scope) ? await rows.placeOf(scope, path) : undefined;
      if (place && mayHoldRows(place.inside)) await scope.origins?.readDocuments(place.inside);
      const folder = await files.hold(scope, path, use);
      return use === 'run' ? { ...folder, restore: () => refresh(scope) } : folder;
    },

    async isFolder(scope, path) {
      await refresh(scope);
      return files.isFolder(scope, path);
    },
  };
}

function refuseOther(error: unknown): null {
  if (error instanceof FileProblem && error.code === 'FileNotFound') return null;
  throw error;
}

function mayHoldRows(inside: string): boolean {
  return inside === '' || inside === MEMORY_FOLDER || inside.startsWith(`${MEMORY_FOLDER}/`);
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** The immediate children. */
function childrenOf(rows: readonly DocumentRow[], folder: string): readonly Entry[] {
  const start = folder === '' ? '' : `${folder}/`;
  return rows.flatMap(({ path, bytes }): Entry[] => {
    if (!path.startsWith(start)) return [];
    const [name = '', ...deeper] = path.slice(start.length).split('/');
    return [deeper.length > 0 ? { name, kind: 'folder', size: 0 } : { name, kind: 'file', size: bytes }];
  });
}

async function collect(content: string | Buffer | AsyncIterable<Buffer>): Promise<Buffer> {
  if (typeof content === 'string' || Buffer.isBuffer(content)) return Buffer.from(content);
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of content) {
    size += part.length;
    if (size > DOCUMENT_LIMITS.bytes)
      throw new FileProblem('InvalidArgs', `a document has at most ${DOCUMENT_LIMITS.bytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
