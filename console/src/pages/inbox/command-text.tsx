/** A command as it would run, with each program that the shell's parser finds in it. */
import type { ComponentChildren } from 'preact';
import { ExactText } from '../../components/exact-text.tsx';

interface CommandTextProps {
  readonly command: string;
  /** The words of every simple command, also of those inside of others; undefined until they are known. */
  readonly commands: readonly (readonly string[])[] | undefined;
}

export function CommandText({ command, commands = [] }: CommandTextProps) {
  return (
    <>
      <pre class="command">{marked(command, commands)}</pre>
      {commands.length > 1 && (
        <details>
          <summary>{commands.length} commands in it</summary>
          <ol class="commands">
            {commands.map((words, index) => (
              <li key={index}>
                <code>
                  <ExactText text={words.join(' ')} />
                </code>
              </li>
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

/** Marks the programs where they stand in the text; one that a wrapper hides, such as in base64, only has its line. */
function marked(command: string, commands: readonly (readonly string[])[]): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const [program = ''] of commands) {
    const found = program === '' ? -1 : command.indexOf(program, at);
    if (found < 0) continue;
    parts.push(
      <ExactText key={`text ${at}`} text={command.slice(at, found)} />,
      <mark key={`program ${found}`} class="program">
        <ExactText text={program} />
      </mark>,
    );
    at = found + program.length;
  }
  return [...parts, <ExactText key="rest" text={command.slice(at)} />];
}
