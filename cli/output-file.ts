/** Files that commands write where the user says. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** For commander: refuses a file that cannot be written, before the work whose result it is to hold. */
export function outputFile(path: string): string {
  const problem = outputProblem(path);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return path;
}

export function outputProblem(path: string): string | undefined {
  const folder = dirname(resolve(path));
  if (!isFolder(folder)) return `There is no folder ${folder}.`;
  return isFolder(path) ? 'It is a folder.' : undefined;
}

function isFolder(path: string): boolean {
  return path === '' || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
