/**
 * Judges shell commands, and reports what their text shows: the public exports of the package, except for its smaller
 * entry points.
 */
export {
  type CommandPlace,
  entryProblem,
  formatEntry,
  parseEntry,
  resolverAt,
  type ResolvedProgram,
  type ResolveProgram,
  displayEntry,
  type StoredEntry,
} from './allowlist.ts';
export { expandCommands } from './parse/expand-commands.ts';
export { type CommandProblem, findProblems, unclearProblem } from './find-problems.ts';
export { foldCommand, MAX_COMMAND_LENGTH } from './parse/fold-command.ts';
export { isGitInternal } from './git-internals.ts';
export { globMayMatch } from './glob-may-match.ts';
export {
  ALLOWED_ALWAYS,
  verdictOnDoubt,
  commandWords,
  verdictOnDenial,
  judgeCommand,
  type ShellRules,
  type ShellVerdict,
} from './judge-command.ts';
export { parseShell } from './parse/parse-shell.ts';
export { type AllowlistProposal, proposeAllowlistEntry } from './propose-allowlist-entry.ts';
export { quoteWord } from './parse/quote-word.ts';
export { readsNetwork } from './reads-network.ts';
export { filesHandedTo, filesRunBy, type RunFiles } from './run-files.ts';
export { isHarmless } from './safe/is-harmless.ts';
export { type ParsedShell, programOf, type ShellCommand } from './shell-command.ts';
export { commandSpellings } from './parse/command-spellings.ts';
export type { FollowLinks } from './through-links.ts';
export { unwrapCommand } from './parse/unwrap-command.ts';
export { INTERPRETERS, SHELLS, WRAPPERS } from './parse/wrappers.ts';
