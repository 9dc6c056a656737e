/**
 * Git takes a folder of any name for a repository when it contains `HEAD` and one of these sets (gitrepository-layout).
 */
export const REPOSITORY_HEAD = 'HEAD';
export const REPOSITORY_PARTS: readonly (readonly string[])[] = [['objects', 'refs'], ['commondir']];
