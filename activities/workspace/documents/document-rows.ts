/** Finds the documents that workspace paths name, and reads and writes them (VF-1 to VF-3). */
import { isUtf8 } from 'node:buffer';
import { realpath } from 'node:fs/promises';
import { relative } from 'node:path';
import {
  DOCUMENT_LIMITS,
  type DocumentAccess,
  documentKind,
  isDocumentPath,
  keptText,
  MEMORY_FOLDER,
  mayWriteInTurn,
} from '#domain/files/document.ts';
import { Failure } from '#domain/errors.ts';
import { DEFAULT_PATH_RULES } from '#domain/files/path-rules.ts';
import { readDocument, writeDocument } from '#store/files/document-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { DocumentCopies } from './document-copies.ts';
import { FileProblem, shown } from '../file-problem.ts';
import type { Files, FileScope } from '../contract.ts';
import { refuseFolderPath, resolvePath } from '../resolve-path.ts';
import { makeWorkspace } from '../workspace-folder.ts';

/** A path of the workspace itself, without links. */
export interface Place {
  readonly access: DocumentAccess;
  /** Relative to the workspace; empty for the workspace itself. */
  readonly inside: string;
}

export interface DocumentRows {
  /** Undefined when no row is possible; the file functions report invalid paths. */
  placeOf(scope: FileScope, path: string): Promise<Place | undefined>;
  /** The same for a path that belongs to a document. */
  rowAt(scope: FileScope, path: string): Promise<Place | undefined>;
  /** The same for a file to write. @throws FileProblem when the path names a folder, or that of memory */
  rowToChange(scope: FileScope, path: string): Promise<Place | undefined>;
  /** The text of the row; undefined when the disk decides. @throws FileProblem for a copy whose row is gone */
  text(scope: FileScope, path: string): Promise<string | undefined>;
  /** Like Files.change. It changes the row, or the file on the disk when there is no row; null removes the row. */
  change(
    scope: FileScope,
    place: Place,
    path: string,
    mayCreate: boolean,
    by: (old: Buffer | null) => Buffer | null,
    isWhole?: boolean,
  ): Promise<{ done: boolean }>;
}

/** Whether any row is possible; otherwise no query is made. */
export function hasDocuments({ documents }: FileScope): boolean {
  return documents !== undefined && documents.version !== null;
}

export function createDocumentRows(
  pool: Pool,
  copies: DocumentCopies,
  files: Pick<Files, 'readBytes'>,
): DocumentRows {
  async function placeOf(scope: FileScope, path: string): Promise<Place | undefined> {
    const { documents: access, workspace } = scope;
    if (!access) return undefined;
    await makeWorkspace(workspace, scope.workspaceFrom);
    const home = await realpath(workspace);
    try {
      const { absolute } = await resolvePath(
        DEFAULT_PATH_RULES,
        workspace,
        path,
        'read',
        scope.mount,
        isRowPlace,
      );
      return { access, inside: relative(home, absolute) };
    } catch (error) {
      if (error instanceof FileProblem) return undefined;
      throw error;
    }
  }

  async function rowAt(scope: FileScope, path: string): Promise<Place | undefined> {
    const place = await placeOf(scope, path);
    return place && documentKind(place.inside) ? place : undefined;
  }

  async function rowToChange(scope: FileScope, path: string): Promise<Place | undefined> {
    refuseFolderPath(path);
    const place = await placeOf(scope, path);
    if (place?.inside === MEMORY_FOLDER) refuseMemoryFolder(path);
    return place && documentKind(place.inside) ? place : undefined;
  }

  async function textAt(
    scope: FileScope,
    { access, inside }: Place,
    path: string,
  ): Promise<string | undefined> {
    if (access.version === null) return undefined;
    const row = await readDocument(pool, access, inside);
    if (row) scope.origins?.readDocument(row.read);
    const text = row?.text;
    if (text === undefined && inside in (await copies.listed(scope.workspace)))
      throw new FileProblem(
        'FileNotFound',
        `failed to read file ${shown(path)}: there is no such file or folder`,
      );
    return text;
  }

  async function text(scope: FileScope, path: string): Promise<string | undefined> {
    const place = hasDocuments(scope) ? await rowAt(scope, path) : undefined;
    return place && textAt(scope, place, path);
  }

  /** The previous text when there is no row yet. */
  async function onDisk(scope: FileScope, path: string): Promise<Buffer | null> {
    const bytes = await files.readBytes(scope, path, DOCUMENT_LIMITS.bytes).catch((error: unknown) => {
      // A link out of the workspace, or a folder: there is no previous text.
      if (error instanceof FileProblem) return null;
      throw error;
    });
    if (bytes === undefined)
      throw new FileProblem('InvalidArgs', `${shown(path)} is too large to be kept; move it into a folder`);
    return bytes;
  }

  const change: DocumentRows['change'] = async (scope, place, path, mayCreate, by, isWhole = false) => {
    const { access, inside } = place;
    refuseWrite(place, path);
    const isOnDisk = await textAt(scope, place, path).then((text) => text === undefined, isGone);
    const below = isOnDisk ? await onDisk(scope, path) : null;
    const read = access.outside();
    const isOutside = Object.keys(read).length > 0;
    try {
      const { done } = await writeDocument(pool, access, {
        path: inside,
        author: access.author,
        call: scope.idempotencyKey || undefined,
        // A partial change leaves a text from outside marked as such.
        outside: isOutside || (isWhole ? false : undefined),
        read,
        by(seen) {
          const old = seen === undefined ? below : Buffer.from(seen);
          if (old === null && !mayCreate)
            throw new FileProblem(
              'FileNotFound',
              `failed to read file ${shown(path)}: there is no such file or folder`,
            );
          const next = by(old);
          return next && keptText(inside, access.user, access.hide(textOf(next, path)));
        },
      });
      await access.onWritten?.(inside);
      return { done };
    } catch (error) {
      if (error instanceof Failure && error.type === 'InvalidInput')
        throw new FileProblem('InvalidArgs', error.message);
      throw error;
    }
  };

  return { placeOf, rowAt, rowToChange, text, change };
}

/** No link is followed at this path or below it. */
function isRowPlace(inside: string): boolean {
  return inside === MEMORY_FOLDER || documentKind(inside) !== undefined;
}

function refuseMemoryFolder(path: string): never {
  throw new FileProblem(
    'InvalidPath',
    `failed to write file ${shown(path)}: it is the folder of memory; name a file in it, such as memory/notes.md`,
  );
}

function refuseWrite({ access, inside }: Place, path: string): void {
  const refuse = (why: string, code: 'PermissionDenied' | 'InvalidPath' = 'PermissionDenied'): never => {
    throw new FileProblem(code, `failed to write file ${shown(path)}: ${why}`);
  };
  if (documentKind(inside) === 'generated') refuse('it is made anew for each step; nobody writes it');
  if (!isDocumentPath(inside))
    refuse('memory has no files whose name begins with a dot or is HEAD', 'InvalidPath');
  if (!mayWriteInTurn(access.type ?? 'open', inside))
    refuse('it is the agent’s, which no turn changes; what is to be known of the user belongs in USER.md');
}

function textOf(bytes: Buffer, path: string): string {
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8');
  throw new FileProblem(
    'InvalidArgs',
    `${shown(path)} is kept as text: it must be UTF-8 without NUL characters`,
  );
}

function isGone(error: unknown): false {
  if (!(error instanceof FileProblem)) throw error;
  return false;
}
