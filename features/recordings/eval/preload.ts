/** Loaded before the files of evals: they find `tempoclaw/eval`, and it finds the installation. */
import { registerHooks } from 'node:module';
import { createContext } from '#cli/command-context.ts';
import { readRecordingFile } from '../recording-file.ts';
import { provideHost } from './host.ts';

const NAMES: Readonly<Record<string, string>> = {
  'tempoclaw/eval': new URL('./sdk.ts', import.meta.url).href,
  tempoclaw: new URL('../../code-tools/sdk.ts', import.meta.url).href,
};

registerHooks({
  resolve(name, context, next) {
    const url = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
    return url === undefined ? next(name, context) : { url, shortCircuit: true };
  },
});

const { client } = createContext({});
provideHost({
  send: (method, path, body) => client.send(method, path, body),
  readRecording: readRecordingFile,
});
