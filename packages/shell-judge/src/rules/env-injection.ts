/** Variables that make another program run other code. */
import { programOf, type ShellCommand } from '../shell-command.ts';
import { categoryOf } from './rule.ts';

/** `IFS= read -r line` sets it for this one command, which starts nothing. */
function splitsInput(command: ShellCommand): boolean {
  return programOf(command) === 'read' && command.assignments.every(({ name }) => name === 'IFS');
}

export const envInjection = categoryOf('env_injection', [
  {
    deny: 'sets a variable that loads code',
    variable: /^(?:LD_|DYLD_)|^(?:BASH_ENV|ENV|PROMPT_COMMAND|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4)$/,
  },
  {
    deny: 'sets a variable that names a program',
    variable:
      /^GIT_(?:SSH\w*|EXTERNAL_DIFF|DIFF_OPTS|PAGER|EDITOR|SEQUENCE_EDITOR|ASKPASS|PROXY_COMMAND|EXEC_PATH|CONFIG\w*|TEMPLATE_DIR|DIR|WORK_TREE)$/,
  },
  { deny: 'names the file that loads code into every program', path: /^\/etc\/ld\.so\.preload$/ },
  {
    confirm: 'sets a variable that steers programs',
    when: (command) => !splitsInput(command),
    variable:
      /^(?:PATH|IFS|HOME|SHELL|CDPATH|GLOBIGNORE|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|SSH_ASKPASS|SUDO_ASKPASS|LESS\w*|NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|PYTHON(?:PATH|STARTUP|HOME|INSPECT|BREAKPOINT|USERBASE)|PERL5?(?:LIB|OPT|DB)|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES|CARGO_\w+|RUSTC\w*|GOFLAGS|GOPROXY|CC|CXX|LUA_\w*|PHPRC|PHP_INI_SCAN_DIR|DOCKER_HOST|KUBECONFIG|AWS_\w+|XDG_\w+|npm_config_\w+|NPM_CONFIG_\w+|PIP_\w+|UV_\w+|TAR_OPTIONS|GREP_OPTIONS|GCONV_PATH|HOSTALIASES|TERMINFO|\w*_proxy|\w*_PROXY)$/i,
  },
]);
