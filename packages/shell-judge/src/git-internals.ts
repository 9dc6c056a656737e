/**
 * What git keeps for itself and obeys: who writes there chooses programs that a later `git status` starts (`core.fsmonitor`,
 * hooks, filters, `gitdir:`, `commondir`). Whoever judges paths can use the same list as the judge of commands.
 */

/** Also as file systems may take the name: any letter case, dots and spaces at its end, what is not drawn, Windows' short form. */
const GIT_NAME = /^(?:\.git|git~\d+)$/;
const NOT_DRAWN = /\p{Default_Ignorable_Code_Point}/gu;

/** Whether the path is a repository's `.git`, a folder or a file, or something in it. Links must be resolved before. */
export function isGitInternal(path: string): boolean {
  return path.split(/[/\\]/).some((name) => GIT_NAME.test(folded(name)));
}

function folded(name: string): string {
  return name
    .normalize('NFKC')
    .replace(NOT_DRAWN, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
}
