/**
 * PO-5: what was read from outside before what a call reads was written, and the same for what the call itself writes.
 * It also records which files the call has changed.
 */
import { basename, relative, resolve } from 'node:path';
import type { RunFiles } from '#domain/approval/bound-file.ts';
import { ANY_FILE, recordedFiles } from '#domain/files/changed-files.ts';
import type { DocumentScope } from '#domain/files/document.ts';
import type { FileOrigins } from '#domain/files/file-origins.ts';
import { isMarked } from '#domain/text/outside-text.ts';
import { OUTSIDE_COMMAND, OUTSIDE_DOCUMENT, type UsedTools } from '#domain/policy/used-tools.ts';
import type { ToolResult } from '#domain/tool.ts';
import { documentsRead } from '#store/files/document-store.ts';
import {
  endCommand,
  filesRead,
  forgetOutsideFile,
  noteCommand,
  noteOutsideFiles,
} from '#store/files/outside-file-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { findUsed } from '#store/turns/session-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Processes } from '../process/session-processes.ts';
import { changedSince, type FileStamps, type StampLimits, stampFiles } from '../workspace/file-stamps.ts';

export interface CallReads {
  /** For the files of the call. */
  readonly origins: FileOrigins;
  /** What was read from outside before the files that the call runs were written, by the paths that it names. */
  ofRunFiles(files: RunFiles): Promise<UsedTools>;
  /** Adds what the call has read until now, the files that it has changed, marked parts of its text, and text for the model. */
  noted(result: ToolResult, tool: { readonly marks: boolean; readonly acts: boolean }): Promise<ToolResult>;
}

/** To show people what each command has changed. */
const FOR_SHOW: StampLimits = { entries: 2_000, tickMs: 0 };
/** To mark what a command of a session has changed that has read from outside. With more, all files are marked. */
const FOR_MARKS: StampLimits = { entries: 20_000, tickMs: 20 };

export interface ReadingCall {
  readonly call: string;
  readonly tool: string;
  /** An earlier attempt had the call and was lost. */
  readonly isAgain: boolean;
  readonly scope: DocumentScope;
  readonly workspace: string;
  readonly workspaceFrom?: string | undefined;
  /** What its session had read from outside, and the call itself when its tool reads from there. */
  readonly outside: UsedTools;
  /** Whether the present rules would let the command run without asking. */
  readonly mayRun: (command: string) => Promise<boolean>;
  /** Masks secrets. */
  readonly hide: (text: string) => string;
}

export type CreateCallReads = (call: ReadingCall) => CallReads;

export function createCallReads(
  pool: Pool,
  processes: Pick<Processes, 'watchersOf'>,
  ownNames: readonly string[],
): CreateCallReads {
  return ({ call, tool, isAgain, scope, workspace, workspaceFrom, outside, mayRun, hide }) => {
    const { tenant } = scope;
    let found: UsedTools = {};
    const add = (read: UsedTools): void => void (found = { ...found, ...read });
    const folders = workspaceFrom === undefined ? [workspace] : [workspace, workspaceFrom];
    const place = { tenant, workspaces: folders.map((each) => basename(each)) };
    const known = (): UsedTools => ({ ...found, ...outside });
    const hasKnown = (): boolean => Object.keys(known()).length > 0;
    const ended: string[] = [];
    /** They were judged before anything from outside was read, and might now act on it. */
    const endWatchers = async (): Promise<void> => {
      if (Object.keys(outside).length === 0) return;
      for (const watcher of await processes.watchersOf(tenant, workspace)) {
        if (await mayRun(watcher.command)) continue;
        await watcher.end();
        ended.push(watcher.id);
      }
    };
    const written = new Set<string>();
    let command: { readonly before: FileStamps | undefined; readonly marks: boolean } | undefined;
    let continues = false;
    const stamps = (marks: boolean) => stampFiles(workspace, ownNames, marks ? FOR_MARKS : FOR_SHOW);
    /** A command that was interrupted, in this attempt or an earlier one, or continues, leaves the whole workspace marked. */
    const settleCommand = async (): Promise<readonly string[]> => {
      if (!command) return [];
      if (continues || isAgain) return [ANY_FILE];
      const { before, marks } = command;
      const changed = changedSince(before, before && (await stamps(marks)));
      if (marks) await endCommand(pool, place, call, changed, known());
      return changed;
    };
    const filesOf = async ({ ok }: ToolResult): Promise<readonly string[] | undefined> => {
      const changed = [...(await settleCommand()), ...(ok ? written : [])].map(hide);
      return command || changed.length > 0 ? recordedFiles(tool, [...new Set(changed)]) : undefined;
    };
    return {
      origins: {
        read: async (path) => add(await filesRead(pool, { ...place, path })),
        readDocument: add,
        readDocuments: async (path) => add(await documentsRead(pool, scope, path)),
        readSessions: async (sessions) => add(await findUsed(forTenant(pool, tenant), sessions)),
        readsNetwork: () => add({ [OUTSIDE_COMMAND]: call }),
        known,
        async changed(path, isWhole) {
          written.add(path);
          if (hasKnown()) {
            await noteOutsideFiles(pool, place, [path], known());
            await endWatchers();
          } else if (isWhole) await forgetOutsideFile(pool, { ...place, path });
        },
        async runs() {
          add({ ...(await filesRead(pool, { ...place, path: '' })), ...(await documentsRead(pool, scope)) });
          const marks = hasKnown();
          command = { before: await stamps(marks), marks };
          if (!marks) return;
          await noteCommand(pool, place, call, known());
          await endWatchers();
        },
        continues: () => void (continues = true),
      },
      async ofRunFiles({ paths, open, folder = '' }) {
        const named = paths.map((path) => relative(workspace, resolve(workspace, folder, path)));
        for (const path of open === null ? named : ['']) add(await filesRead(pool, { ...place, path }));
        return found;
      },
      async noted(result, { marks, acts }) {
        const changedFiles = await filesOf(result);
        // Documents that it has written appear among the files of the next command.
        if (acts) await endWatchers();
        if (!marks && isMarked(result.ok ? result.text : result.message))
          add({ [OUTSIDE_DOCUMENT]: call, ...(await documentsRead(pool, scope)) });
        const read = Object.keys(found).length > 0 ? { ...found, ...result.read } : result.read;
        if (!result.ok || ended.length === 0) return { ...result, read, changedFiles };
        const words = `\n[ended ${ended.join(', ')}: begun before something from outside was read, it would be asked about now; start it again]`;
        return { ...result, read, changedFiles, text: result.text + words };
      },
    };
  };
}
