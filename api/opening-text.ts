/** The first message of a session whose client has said more before, or has instructions. */

export interface Spoken {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
}

/** `before`: what the session does not have. */
export function openingText(instructions: string, before: readonly Spoken[], text: string): string {
  const earlier = before.map((one) => `${one.role}: ${one.text}`);
  return [
    ...(instructions ? [`Instructions of the application:\n${instructions}`] : []),
    ...(earlier.length > 0 ? [`The conversation until now:\n${earlier.join('\n\n')}`] : []),
    text,
  ].join('\n\n---\n\n');
}
