/**
 * Implements `tempoclaw completion SHELL`: a script that completes commands and options at Tab. It sends no requests
 * while a person types.
 */
import { Argument, type Command } from 'commander';
import { createOutput } from '#cli/output.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function register(command: Command, whole: () => Promise<Command>): void {
  command
    .addArgument(new Argument('<shell>', 'for which shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
bash  source <(npx tempoclaw completion bash)     in ~/.bashrc
zsh   source <(npx tempoclaw completion zsh)      in ~/.zshrc, after compinit
fish  npx tempoclaw completion fish | source      in ~/.config/fish/config.fish
It completes the name tempoclaw; in a clone: alias tempoclaw='npx tempoclaw'`,
    )
    .action(async (shell: (typeof SHELLS)[number]) => {
      const places = placesOf(await whole());
      const script = shell === 'fish' ? fishScript(places) : bashScript(places);
      const begin = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
      createOutput(process.stdout).stream.write(begin + script);
    });
}

/** A command's names from the root, each after a space, and what may follow it. */
interface CursorPlace {
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly text: string }[];
}

function placesOf(command: Command, path = ''): CursorPlace[] {
  const commands = command.commands.map((one) => ({ word: one.name(), text: one.description() }));
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short, description }) => ({ word: long ?? short ?? '', text: description }));
  const words = [...commands, ...choices.map((word) => ({ word, text: '' })), ...options];
  return [
    { path, words: [...words, { word: '--help', text: 'display help for command' }] },
    ...command.commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`)),
  ];
}

/**
 * zsh also reads it, through its bashcompinit. It uses no associative arrays, which the bash of macOS does not have.
 */
function bashScript(places: readonly CursorPlace[]): string {
  const cases = places.map(
    ({ path, words }) => `    '${path}') echo '${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  return `_tempoclaw_words() {
  case "$1" in
${cases.join('\n')}
    *) return 1 ;;
  esac
}
_tempoclaw() {
  local place='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if _tempoclaw_words "$place \${COMP_WORDS[i]}" >/dev/null; then place="$place \${COMP_WORDS[i]}"; fi
  done
  COMPREPLY=($(compgen -W "$(_tempoclaw_words "$place")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tempoclaw tempoclaw
`;
}

function fishScript(places: readonly CursorPlace[]): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ word, text }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${quoted(word)}`;
      return `complete -c tempoclaw -n ${quoted(`__tempoclaw_at ${quoted(path)}`)} ${what} -d ${quoted(text)}`;
    }),
  );
  return `set -g __tempoclaw_places ${places.map(({ path }) => quoted(path)).join(' ')}
function __tempoclaw_at
  set -l place ''
  for word in (commandline -opc)[2..]
    if contains -- "$place $word" $__tempoclaw_places
      set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`;
}
