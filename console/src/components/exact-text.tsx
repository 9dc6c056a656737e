/** Text of others as it is: characters that are not seen, or that change the order of others, show as their codes. */
import type { ComponentChildren } from 'preact';

/** Controls but line breaks and tabs, formats (joiners, directions, tags), separators of lines, and fillers. */
const HIDDEN = /((?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/u;

interface TextProps {
  readonly text: string;
}

export function ExactText({ text }: TextProps) {
  return <>{text.split(HIDDEN).map(shownPart)}</>;
}

/** A paragraph with its line breaks. */
export function PlainText({ text }: TextProps) {
  return (
    <p class="plain-text">
      <ExactText text={text} />
    </p>
  );
}

/** A text, or any other value as JSON. */
export function Pre({ value, label }: { readonly value: unknown; readonly label?: string }) {
  return (
    <pre aria-label={label}>
      <ExactText text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
    </pre>
  );
}

/** Every second part of the split is a hidden character. */
function shownPart(part: string, index: number): ComponentChildren {
  if (index % 2 === 0) return part;
  const code = part.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return (
    <mark key={index} class="hidden-char" title="A hidden character">
      U+{code}
    </mark>
  );
}
