/** A rehearsal script of a model with a small window. */

/** Accepts at most 2,000 tokens; if a summary is requested, it returns one. */
export const SMALL = `
rules:
  - when: { user: Summarize the conversation }
    reply: { text: 'SUMMARY: the user likes tea.' }
  - when: { tokens: { from: 2000 } }
    reply: { error: { code: ContextOverflow, message: The prompt does not fit. } }
  - when: { user: what do you know }
    reply: { text: 'I know what there is.' }
  - reply: { text: Noted. }
`;
