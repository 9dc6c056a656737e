/** Replaces look-alike letters and removes invisible characters, before anything is parsed. */

/** Greatest number of bytes of a command; longer text is not judged. */
export const MAX_COMMAND_LENGTH = 64 * 1024;

/** Everything below a space except tab and newline, DEL, C1; and the overrides that display text in another order. */
const REFUSED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/;
/** Format characters, fillers, variation selectors: drawn with no width. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Joiners and modifiers in emoji are visible as part of them. */
const IN_EMOJI = /(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)(?:\u200d|\ufe0f)/gu;

export interface FoldedCommand {
  /** NFKC without invisible characters: the command as a person reads it. */
  readonly folded: string;
  /** The text contains characters that a person does not see. */
  readonly hasInvisible: boolean;
  /** Says why the text is refused whatever it contains, or null. */
  readonly refused: string | null;
}

export function foldCommand(command: string): FoldedCommand {
  const text = command.replace(IN_EMOJI, '');
  const visible = text.replace(INVISIBLE, '');
  return {
    folded: visible.normalize('NFKC'),
    hasInvisible: visible !== text,
    refused: refusalOf(command),
  };
}

function refusalOf(command: string): string | null {
  if (command.includes('\0')) return 'the command has a NUL byte';
  if (REFUSED.test(command)) return 'the command has control characters';
  return command.trim() === '' ? 'the command is empty' : null;
}
