/**
 * Which programs a stdio server may be, and which arguments would make them run something other than a server's file.
 */

/** By family: JavaScript, Python, and others. Python is also installed by its version, such as python3.12. */
const RUNTIMES = (
  'node npm npx deno bun bunx ' +
  'python python2 python3 uv uvx pipx ' +
  'ruby php java dotnet go cargo'
).split(' ');

/** Why the command may not be started, or undefined. */
export function commandProblem(command: string): string | undefined {
  const named = /^(?:\/[A-Za-z0-9_.@+/-]*\/)?([A-Za-z0-9_.-]+)$/.exec(command)?.[1];
  const runtime = named?.replace(/^(python3)\.\d{1,2}$/, '$1');
  if (runtime !== undefined && RUNTIMES.includes(runtime) && !command.split('/').includes('..'))
    return undefined;
  return `must be one of ${RUNTIMES.join(', ')}, or an absolute path of one; the server's file or package goes into args`;
}

/** Options by which a runtime reads code, or code to load first, from its command line. */
const CODE_OPTION =
  /^--(?:eval|print|require|import|loader|experimental-loader|call|node-options|inspect\S*|preload|env-file)(?:=.*)?$/i;
/** The same as one letter, also among others and with the code in the same word. */
const CODE_LETTER = /^(?:-[a-z]{0,3}[ec]|-[ecr].+)$/i;
/** These have no such letters, and options like `-name` and `-cp`; what runs another program has these names. */
const COMPILERS: Readonly<Record<string, RegExp>> = {
  go: /^--?(?:exec|toolexec)(?:=|$)/,
  cargo: /^--config(?:=|$)/,
  java: /^-(?:agentlib|agentpath|javaagent):/,
  dotnet: /^--additional-deps(?:=|$)/,
};
/**
 * The same for these programs before their file. For other programs and servers, these options mean a package, a port
 * or a root.
 */
const JS_OPTION = /^(?:-[pr]|--(?:entry-url|run|experimental-(?:default-)?config-file)(?:=|$))/;
const SCRIPT_OPTIONS: Readonly<Record<string, RegExp>> = {
  node: JS_OPTION,
  bun: JS_OPTION,
  ruby: /^-r/,
  php: /^(?:-[rRBFd]|--(?:run|process-begin|process-code|process-file|process-end|define)(?:=|$))/,
};
/**
 * Characters, variables and redirections of a shell. None is used, so these would not do what their author expects.
 * `${NAME}` is not among them, because some programs (mcp-remote) replace it themselves.
 */
const SHELL =
  /[;|&`\n\r\0]|\$\(|(?:^|[\s=:])\$[A-Za-z_]|^\d?[<>]{1,3}\s*[\w./~-]*$|\s\d?[<>]{1,2}\s*[\w.~-]*\//;
/** The query of an address contains `&`, that of a database as well. */
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^\s;|`]+$/i;
/** The name of a file or package may contain `subprocess`. */
const CODE = /\b(?:exec|eval|require|import|system|popen)\s*\(|__import__|\bsubprocess\b(?!-)|child_process/i;

/** Why the arguments are not allowed, or undefined. */
export function argsProblem(args: readonly string[], command = 'node'): string | undefined {
  const program = command.slice(command.lastIndexOf('/') + 1);
  const scripted = SCRIPT_OPTIONS[program];
  const letter = COMPILERS[program] ?? CODE_LETTER;
  const file = args.findIndex((arg) => /^(?:[^-].*[./]|run$|x$)/.test(arg));
  for (const [at, arg] of args.entries()) {
    const shown = arg.slice(0, 60);
    const isOwn = file === -1 || at < file;
    if (CODE_OPTION.test(arg) || letter.test(arg) || arg === 'eval' || (isOwn && scripted?.test(arg)))
      return `${shown} would run code from the command line; put it in a file`;
    if (SHELL.test(ADDRESS.test(arg) ? arg.replaceAll('&', '') : arg))
      return `${shown} has signs of a shell, and none is used`;
    if (CODE.test(arg)) return `${shown} looks like code; put it in a file`;
  }
  return undefined;
}
