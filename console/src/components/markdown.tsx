/** What models write, as text with simple formatting: no HTML of theirs, no pictures, and links that show where they lead. */
import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import { useMemo } from 'preact/hooks';

const TAGS =
  'p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code strong em del table thead tbody tr th td a span'.split(
    ' ',
  );

const marked = new Marked({
  gfm: true,
  async: false,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    // The picture would tell its server who reads this.
    image: ({ href, text }) => `<span>${escapeHtml(text || 'picture')} (${escapeHtml(href)})</span>`,
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      const host = hostOf(href);
      if (host === undefined) return words;
      return `<a href="${escapeHtml(href)}">${words}</a> <span class="host">${escapeHtml(host)}</span>`;
    },
  },
});

export function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => clean(text), [text]);
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}

/** A value of the policy that the page's Content-Security-Policy names; no other may become HTML. */
function clean(text: string): string {
  return DOMPurify.sanitize(marked.parse(text) as string, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ['href', 'class', 'start', 'align', 'target', 'rel'],
    ALLOW_DATA_ATTR: false,
    RETURN_TRUSTED_TYPE: true,
  }) as unknown as string;
}

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
});

/** Undefined for what is no web address. */
function hostOf(href: string): string | undefined {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url.host : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}
