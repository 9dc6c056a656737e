/** The files that an answer attaches: links in its Markdown to artifacts. */
import { MAX_ATTACHMENTS } from '#domain/files/attachment.ts';

const LINK = /!?\[([^\][\n]{0,300})\]\(artifact:(art_[0-9a-f]{32})\)/g;

export interface LinkedArtifacts {
  /** The Markdown without the links. A line that was only a link is removed; elsewhere, the link's words stay. */
  readonly markdown: string;
  /** Ids of artifacts, each once, as many as a message may have. */
  readonly ids: readonly string[];
}

/** A block of code is left unchanged. */
export function linkedArtifacts(markdown: string): LinkedArtifacts {
  const ids = new Set<string>();
  let isCode = false;
  const lines = markdown.split('\n').flatMap((line) => {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    const links = isCode ? [] : [...line.matchAll(LINK)];
    if (links.length === 0) return [line];
    for (const [, , id = ''] of links) ids.add(id);
    return line.replaceAll(LINK, '').trim() === '' ? [] : [line.replaceAll(LINK, '$1')];
  });
  return { markdown: lines.join('\n').trim(), ids: [...ids].slice(0, MAX_ATTACHMENTS) };
}
