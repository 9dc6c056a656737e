/** Loaded before the files of evals: they find `tempoclaw/eval`, and it finds the installation. */
import { createContext } from '#cli/command-context.ts';
import { readRecordingFile } from '../recording-file.ts';
import { provideExports } from '../../provide-exports.ts';
import { provideHost } from './host.ts';

provideExports();

const { client } = createContext({});
provideHost({
  send: (method, path, body) => client.send(method, path, body),
  readRecording: readRecordingFile,
});
