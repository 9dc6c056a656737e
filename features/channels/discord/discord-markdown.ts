/**
 * Writes Discord's Markdown, which is nearly what models write. It escapes what would become a mention, a channel or a
 * spoiler.
 */
import { type Dialect, renderMarkdown, withoutFences } from '../rules/render-markdown.ts';

const DISCORD: Dialect = {
  text: escapeDiscord,
  strong: (shown) => `**${shown}**`,
  emphasis: (shown) => `*${shown}*`,
  deleted: (shown) => `~~${shown}~~`,
  // Two marks may enclose one.
  code: (text) => (text.includes('`') ? `\`\` ${text.replaceAll(/`(?=`)/g, '`\u200b')} \`\`` : `\`${text}\``),
  fence: (text, language) => `\`\`\`${language}\n${withoutFences(text)}\n\`\`\``,
  // Discord has three sizes.
  heading: (shown, depth) => `${'#'.repeat(Math.min(depth, 3))} ${shown}`,
  quote: (shown) => shown.replaceAll(/^/gm, '> '),
  bullet: '- ',
  link: (address, shown) => `[${shown.replaceAll('\n', ' ')}](<${address}>)`,
  // In brackets, an address is not fetched for a preview.
  address: (address) => `<${address}>`,
};

/** Valid for any text; it mentions nobody. */
export function discordMarkdown(markdown: string): string {
  return renderMarkdown(markdown, DISCORD);
}

/** A zero-width character splits the names that mention everybody, because a backslash does not prevent that. */
function escapeDiscord(text: string): string {
  return text
    .replaceAll(/[\\*_~`|<>[\]]/g, String.raw`\$&`)
    .replaceAll(/^([ \t]*)(#|-)/gm, String.raw`$1\$2`)
    .replaceAll(/^([ \t]*\d+)\./gm, String.raw`$1\.`)
    .replaceAll(/@(?=everyone|here)/gi, '@\u200b');
}
