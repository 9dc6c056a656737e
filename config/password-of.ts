/** Finds the password in an address of the settings, if it looks like one. */

/** A password that is a plain word (`postgres`) would be hidden wherever that word occurs. */
const MIN_LENGTH = 12;

export function passwordOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { password } = new URL(url);
  const decoded = decodeOr(password);
  const isMixed = /[a-z]/i.test(decoded) && /\d/.test(decoded);
  return isMixed || decoded.length >= MIN_LENGTH ? decoded : undefined;
}

/** A stray `%` in a password is no reason to fail. */
function decodeOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
