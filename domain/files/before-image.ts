/** What a call has replaced in a file, for the tool that puts it back (DU-9). */

/** The tool that puts it back. Only an undo calls it. */
export const RESTORE_FILE = 'restore_file';
