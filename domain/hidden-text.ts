/** Texts of any origin, shown to people who decide by them: what would hide or reorder other text is seen as its code. */

/** Marks that reorder or hide text, and controls but tab and line break. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** The JSON, with the same value, in which nothing hides. */
export function unhideJson(json: string): string {
  return json.replace(HIDDEN, (char) =>
    Array.from(
      { length: char.length },
      (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

export function showHidden(text: string, show: (code: string) => string = (code) => `⟨${code}⟩`): string {
  return text.replace(HIDDEN, (char) =>
    show(`U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`),
  );
}
