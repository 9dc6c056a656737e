/** Slack's mrkdwn (docs.slack.dev/messaging/formatting-message-text): marks of one sign, and all that commands stands in angle brackets. */
import { type Dialect, renderMarkdown, withoutFences } from '../rules/render-markdown.ts';

const SLACK: Dialect = {
  text: escapeSlack,
  strong: (shown) => `*${shown}*`,
  emphasis: (shown) => `_${shown}_`,
  deleted: (shown) => `~${shown}~`,
  // One mark cannot hold that mark.
  code: (text) => (text.includes('`') ? `\`\`\`${inBlock(text)}\`\`\`` : `\`${escapeSlack(text)}\``),
  fence: (text) => `\`\`\`\n${inBlock(text)}\n\`\`\``,
  heading: (shown) => `*${shown.replaceAll('*', '')}*`,
  quote: (shown) => shown.replaceAll(/^/gm, '> '),
  bullet: '• ',
  link: (address, shown) => `<${target(address)}|${shown.replaceAll(/[|\n]/g, ' ')}>`,
  address: (address) => `<${target(address)}>`,
};

/** A mark at an end would be one of the block's. */
function inBlock(text: string): string {
  return withoutFences(escapeSlack(text)).replaceAll(/^`|`$/g, (mark) => `\u200b${mark}\u200b`);
}

/** Valid for any text; mentions (`<!channel>`, `<@U…>`) are shown as they are written and call nobody. */
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
