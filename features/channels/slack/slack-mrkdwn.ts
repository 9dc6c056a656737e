/**
 * Writes Slack's mrkdwn (docs.slack.dev/messaging/formatting-message-text): marks have one sign, and commands are in
 * angle brackets.
 */
import { type Dialect, renderMarkdown, withoutFences } from '../rules/render-markdown.ts';

const SLACK: Dialect = {
  text: escapeSlack,
  strong: (shown) => `*${shown}*`,
  emphasis: (shown) => `_${shown}_`,
  deleted: (shown) => `~${shown}~`,
  // A mark cannot enclose the same mark.
  code: (text) => (text.includes('`') ? `\`\`\`${inBlock(text)}\`\`\`` : `\`${escapeSlack(text)}\``),
  fence: (text) => `\`\`\`\n${inBlock(text)}\n\`\`\``,
  heading: (shown) => `*${shown.replaceAll('*', '')}*`,
  quote: (shown) => shown.replaceAll(/^/gm, '> '),
  bullet: '• ',
  link: (address, shown) => `<${target(address)}|${shown.replaceAll(/[|\n]/g, ' ')}>`,
  address: (address) => `<${target(address)}>`,
};

/** A mark at an end would become one of the block's. */
function inBlock(text: string): string {
  return withoutFences(escapeSlack(text)).replaceAll(/^`|`$/g, (mark) => `\u200b${mark}\u200b`);
}

/** Valid for any text; mentions (`<!channel>`, `<@U…>`) appear as written and notify nobody. */
export function slackMrkdwn(markdown: string): string {
  return renderMarkdown(markdown, SLACK);
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A bar would begin the words of the link. */
function target(address: string): string {
  return escapeSlack(address).replaceAll('|', '%7C');
}
