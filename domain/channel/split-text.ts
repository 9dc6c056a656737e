/** Long texts in parts that a service takes. */

/** Each part has at most `most` UTF-16 units. */
export function splitText(markdown: string, most: number): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < markdown.length; at += most) parts.push(markdown.slice(at, at + most));
  return parts;
}
