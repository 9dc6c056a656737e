/** What the arguments of exec say, as canonical arguments have them. */

/** The command, as the shell will get it. */
export function commandOf(args: Readonly<Record<string, unknown>>): string {
  const given = args['command'];
  return typeof given === 'string' ? given : '';
}

/** The folder that it runs in. */
export function folderOf(args: Readonly<Record<string, unknown>>): string | undefined {
  const given = args['working_dir'];
  return typeof given === 'string' ? given : undefined;
}
