/** Discord's Markdown: nearly what models write; what it would take for a mention, a channel or a spoiler is escaped. */
import { type Dialect, renderMarkdown, withoutFences } from '../rules/render-markdown.ts';

const DISCORD: Dialect = {
  text: escapeDiscord,
  strong: (shown) => `**${shown}**`,
  emphasis: (shown) => `*${shown}*`,
  deleted: (shown) => `~~${shown}~~`,
  // Two marks hold one.
  code: (text) => (text.includes('`') ? `\`\` ${text.replaceAll(/`(?=`)/g, '`\u200b')} \`\`` : `\`${text}\``),
  fence: (text, language) => `\`\`\`${language}\n${withoutFences(text)}\n\`\`\``,
  // It has three sizes.
  heading: (shown, depth) => `${'#'.repeat(Math.min(depth, 3))} ${shown}`,
  quote: (shown) => shown.replaceAll(/^/gm, '> '),
  bullet: '- ',
  link: (address, shown) => `[${shown.replaceAll('\n', ' ')}](<${address}>)`,
  // In brackets it is not fetched for a preview.
  address: (address) => `<${address}>`,
};

/** Valid for any text; nobody is mentioned by it. */
export function discordMarkdown(markdown: string): string {
  return renderMarkdown(markdown, DISCORD);
}

/** A character of no width parts the names that call everybody, which no backslash keeps from it. */
function escapeDiscord(text: string): string {
  return text
    .replaceAll(/[\\*_~`|<>[\]]/g, String.raw`\$&`)
    .replaceAll(/^([ \t]*)(#|-)/gm, String.raw`$1\$2`)
    .replaceAll(/^([ \t]*\d+)\./gm, String.raw`$1\.`)
    .replaceAll(/@(?=everyone|here)/gi, '@\u200b');
}
