/**
 * Which programs a stdio server may be, and which arguments would make them run something other than a server's file.
 */

const RUNTIMES = ['node', 'npx', 'python', 'python3', 'uvx', 'deno', 'bun', 'bunx'];

/** Why the command may not be started, or undefined. */
export function commandProblem(command: string): string | undefined {
  const named = /^(?:\/[A-Za-z0-9_.@+/-]*\/)?([A-Za-z0-9_.-]+)$/.exec(command)?.[1];
  if (named !== undefined && RUNTIMES.includes(named) && !command.split('/').includes('..')) return undefined;
  return `must be one of ${RUNTIMES.join(', ')}, or an absolute path of one; the server's file or package goes into args`;
}

/** Options by which a runtime reads code, or code to load first, from its command line. */
const CODE_OPTION =
  /^(?:-[a-z]{0,3}[ec]|--(?:eval|print|require|import|loader|experimental-loader|call|node-options|inspect\S*|preload|env-file)(?:=.*)?|-[ecr].+)$/i;
/**
 * The same for node and bun before their file. For other programs and servers, these options mean a package, a port or
 * a root.
 */
const SCRIPT_OPTION = /^(?:-[pr]|--(?:entry-url|run|experimental-(?:default-)?config-file)(?:=|$))/;
/** Characters of a shell. None is used, so these would not do what their author expects. */
const SHELL = /[;|&`\n\r\0]|\$\(/;
const CODE = /\b(?:exec|eval|require|import|system|popen)\s*\(|__import__|subprocess\b|child_process/;

/** Why the arguments are not allowed, or undefined. */
export function argsProblem(args: readonly string[], command = ''): string | undefined {
  const isScripted = /(?:^|\/)(?:node|bun)$/.test(command);
  const file = args.findIndex((arg) => /^(?:[^-].*[./]|run$|x$)/.test(arg));
  for (const [at, arg] of args.entries()) {
    const shown = arg.slice(0, 60);
    const isOwn = isScripted && (file === -1 || at < file);
    if (CODE_OPTION.test(arg) || arg === 'eval' || (isOwn && SCRIPT_OPTION.test(arg)))
      return `${shown} would run code from the command line; put it in a file`;
    if (SHELL.test(arg)) return `${shown} has signs of a shell, and none is used`;
    if (CODE.test(arg)) return `${shown} looks like code; put it in a file`;
  }
  return undefined;
}
