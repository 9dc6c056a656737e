/** Serves the tools and hooks of a folder, those of each language by its own Temporal worker. */
import { type HostParts, serveTools } from './serve.ts';
import { type PythonParts, servePython } from './serve-python.ts';

export interface FolderParts extends HostParts, Omit<PythonParts, 'program'> {
  /** Undefined when the folder has no tools in Python. */
  readonly program: PythonParts['program'] | undefined;
}

/** Resolves when `signal` is aborted and what ran has ended. When one of them fails, the other is ended too. */
export async function serveFolder(parts: FolderParts): Promise<void> {
  const { program, tools, hooks, onReady } = parts;
  const hasTypeScript = tools.length > 0 || hooks.length > 0;
  const own = new AbortController();
  const signal = AbortSignal.any([parts.signal, own.signal]);
  let missing = (program ? 1 : 0) + (hasTypeScript ? 1 : 0);
  const onOneReady = (): void => {
    missing -= 1;
    if (missing === 0) onReady();
  };
  const ended = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } finally {
      own.abort();
    }
  };
  const shared = { ...parts, signal, onReady: onOneReady };
  const served = await Promise.allSettled([
    program && ended(servePython({ ...shared, program })),
    hasTypeScript ? ended(serveTools(shared)) : undefined,
  ]);
  for (const one of served) if (one.status === 'rejected') throw one.reason;
}
