/** Look-alike letters and invisible characters, before anything is parsed. */

/** Bytes that a shell is given at most; longer text is not judged. */
export const MAX_COMMAND_LENGTH = 64 * 1024;

/** Everything below a space except tab and newline, DEL, C1; the overrides that show text in another order. */
const REFUSED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/;
/** Format characters, fillers, variation selectors: drawn with no width. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** What joins and colours emoji is seen as part of them. */
const IN_EMOJI = /(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)(?:\u200d|\ufe0f)/gu;

export interface FoldedCommand {
  /** NFKC, nothing invisible: what a reader takes the command for. */
  readonly folded: string;
  /** The text has characters that a reader does not see. */
  readonly hasInvisible: boolean;
  /** Why the text is refused whatever it says, or null. */
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
