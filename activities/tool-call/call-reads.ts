/** PO-5: what was read from outside before what a call reads was written, and the same of what the call itself writes. */
import { basename } from 'node:path';
import type { DocumentScope } from '#domain/document.ts';
import type { Processes } from '../process/background.ts';
import type { ToolResult } from '#domain/tool.ts';
import type { FileOrigins } from '#domain/file-origins.ts';
import { isMarked } from '#domain/outside-text.ts';
import { OUTSIDE_DOCUMENT, type UsedTools } from '#domain/policy/used-tools.ts';
import { documentsRead } from '#store/document-store.ts';
import { filesRead, type FilePlace, forgetOutsideFile, noteOutsideFile } from '#store/outside-file-store.ts';
import type { Pool } from '#store/pool.ts';

export interface CallReads {
  /** For the files of the call. */
  readonly origins: FileOrigins;
  /** With what the call has read by now and what stands marked in its text, and with words for the model. */
  noted(result: ToolResult, isMarker: boolean): Promise<ToolResult>;
}

export interface ReadingCall {
  readonly call: string;
  readonly scope: DocumentScope;
  readonly workspace: string;
  readonly workspaceFrom?: string | undefined;
  /** What its session had read from outside. */
  readonly outside: UsedTools;
  /** A person has approved the call: what it writes is what they saw. */
  readonly approved: boolean;
  /** Whether the rules of now would let the command run unasked. */
  readonly mayRun: (command: string) => Promise<boolean>;
}

export type CreateCallReads = (call: ReadingCall) => CallReads;

export function createCallReads(pool: Pool, processes: Pick<Processes, 'watchersOf'>): CreateCallReads {
  return ({ call, scope, workspace, workspaceFrom, outside, approved, mayRun }) => {
    let found: UsedTools = {};
    const add = (read: UsedTools): void => void (found = { ...found, ...read });
    const workspaces = [workspace, ...(workspaceFrom === undefined ? [] : [workspaceFrom])].map((each) =>
      basename(each),
    );
    const placeOf = (path: string): FilePlace => ({ tenant: scope.tenant, workspaces, path });
    const hasOutside = Object.keys(outside).length > 0;
    const note = (path: string): Promise<void> => noteOutsideFile(pool, placeOf(path), outside);
    const ended: string[] = [];
    /** They were judged before anything from outside was read, and would now run what it says. */
    const endWatchers = async (): Promise<void> => {
      for (const watcher of await processes.watchersOf(scope.tenant, workspace)) {
        if (await mayRun(watcher.command)) continue;
        await watcher.end();
        ended.push(watcher.id);
      }
    };
    return {
      origins: {
        read: async (path) => add(await filesRead(pool, placeOf(path))),
        readDocument: add,
        async changed(path, isWhole) {
          if (hasOutside) {
            await note(path);
            await endWatchers();
          } else if (isWhole) await forgetOutsideFile(pool, placeOf(path));
        },
        async runs() {
          add({ ...(await filesRead(pool, placeOf(''))), ...(await documentsRead(pool, scope)) });
          if (hasOutside && !approved) await note('');
        },
      },
      async noted(result, isMarker) {
        if (!result.ok) return result;
        if (!isMarker && isMarked(result.text))
          add({ [OUTSIDE_DOCUMENT]: call, ...(await documentsRead(pool, scope)) });
        const read = Object.keys(found).length > 0 ? { ...found, ...result.read } : result.read;
        const words = `\n[ended ${ended.join(', ')}: begun before something from outside was read, it would be asked about now; start it again]`;
        return { ...result, read, text: ended.length > 0 ? result.text + words : result.text };
      },
    };
  };
}
