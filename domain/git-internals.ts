/** What makes a folder of any name a repository, for git and for `git -C`: `HEAD` beside one of these sets (gitrepository-layout). */
export const REPOSITORY_HEAD = 'HEAD';
export const REPOSITORY_PARTS: readonly (readonly string[])[] = [['objects', 'refs'], ['commondir']];
