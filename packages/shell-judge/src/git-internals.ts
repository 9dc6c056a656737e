/**
 * Git's own files, whose contents choose programs that a later `git status` starts (`core.fsmonitor`, hooks, filters,
 * `gitdir:`, `commondir`). Judges of paths can use the same list as the judge of commands.
 */

/**
 * Includes names that file systems treat as equal: other letter case, trailing dots and spaces, invisible characters,
 * Windows' short form.
 */
const GIT_NAME = /^(?:\.git|git~\d+)$/;
const NOT_DRAWN = /\p{Default_Ignorable_Code_Point}/gu;

/** Whether the path is a repository's `.git` (a folder or a file), or is inside one. Links must be resolved first. */
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
