/**
 * Calls Slack's Web API (docs.slack.dev/reference/methods): each method is one POST, answered with 200 and `ok: false`
 * when it refuses.
 */
import { ARTIFACT_BYTES } from '#features/artifacts/contract.ts';
import type { ChannelButton, ChannelPost } from '../contract.ts';
import { slackMrkdwn } from './slack-mrkdwn.ts';
import { splitText } from '../rules/split-text.ts';
import { readRetryAfter } from '#domain/net/retry-after.ts';
import type { Fields } from '#domain/outside-value.ts';
import { callService, fetchBytes, ownAddress, type ServiceAnswer } from '../activities/call-service.ts';
import { ChannelError } from '../activities/channel-error.ts';
import type { ChannelSender, SendContext } from '../activities/channel-sender.ts';
import { postParts } from '../activities/post-parts.ts';

/** Characters that chat.update accepts, so that each message can be changed. */
const MAX = 4_000;
/** Characters of a section, which is above buttons. */
const SECTION = 3_000;

export const slackSender: ChannelSender = {
  usualUrl: 'https://slack.com/api',
  split: (post) => postParts(post, textsOf),
  async send(context, { chat: channel, thread: thread_ts }, part) {
    const sent = await call(context, 'chat.postMessage', { channel, thread_ts, ...QUIET, ...postBody(part) });
    return String(sent['ts']);
  },
  async edit(context, { chat: channel }, ts, { markdown, buttons = [] }) {
    const [text = ''] = textsOf(markdown, buttons.length > 0);
    try {
      await call(context, 'chat.update', { channel, ts, ...postBody({ markdown: text, buttons }) });
      return true;
    } catch (error) {
      if (
        !(
          error instanceof ChannelError &&
          /message_not_found|cant_update_message|edit_window_closed/.test(error.message)
        )
      )
        throw error;
      return false;
    }
  },
  maxBytes: ARTIFACT_BYTES,
  async sendFile(context, { chat: channel_id, thread: thread_ts }, { name: filename, bytes }) {
    const length = String(bytes.length);
    // This method reads only forms.
    const place = await call(
      context,
      'files.getUploadURLExternal',
      new URLSearchParams({ filename, length }),
    );
    const { upload_url: address, file_id: id } = place;
    await upload(context, ownAddress(context, 'Slack', String(address), HOSTS), bytes);
    await call(context, 'files.completeUploadExternal', {
      files: [{ id, title: filename }],
      channel_id,
      thread_ts,
    });
    return String(id);
  },
  async fetchFile(context, { source, type }) {
    const address = ownAddress(context, 'Slack', source, HOSTS);
    const headers = { authorization: `Bearer ${context.credentials['token']}` };
    const input = await fetchBytes(context, 'Slack', address, headers);
    // A caller that may not read it gets a page to sign in.
    if (input.type.startsWith('text/html') && type !== 'text/html')
      throw new ChannelError('Slack gives no files to this app: it needs the scope files:read', {
        status: 200,
        isFinal: true,
      });
    return input.bytes;
  },
  async connect(context, { address }, report) {
    const headers = { authorization: `Bearer ${context.credentials['token']}` };
    const answer = await callService(context, '/auth.test', {}, { headers });
    const { user, team } = resultOf(answer);
    report.account = `${String(user)} in ${String(team)}`;
    report.done.push('Slack knows the token');
    const values =
      answer.headers
        .get('x-oauth-scopes')
        ?.split(',')
        .map((scope) => scope.trim()) ?? [];
    const missing = SCOPES.filter((scope) => !values.includes(scope));
    if (missing.length > 0)
      report.todo.push(`give the app the scopes ${missing.join(', ')}, and install it again`);
    if (address !== undefined)
      report.todo.push(
        `have Event Subscriptions and Interactivity call ${address} at api.slack.com/apps: a bot cannot set that`,
      );
  },
};

/** docs/slack.md says what each is used for. */
const SCOPES: readonly string[] = [
  'app_mentions:read',
  'channels:history',
  'chat:write',
  'files:read',
  'files:write',
  'groups:history',
  'im:history',
];
const HOSTS = /(?:^|\.)slack\.com$/;

/** @throws ChannelError, EgressError */
async function upload({ client, signal }: SendContext, address: string, bytes: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream' };
  const response = await client.fetch(address, {
    method: 'POST',
    body: new Uint8Array(bytes),
    headers,
    signal,
  });
  await response.body?.cancel();
  if (!response.ok)
    throw new ChannelError(`Slack: the upload was answered ${response.status}`, {
      status: response.status,
      retryAfter: readRetryAfter(response.headers.get('retry-after'), Date.now()),
    });
}

function textsOf(markdown: string, hasButtons: boolean): readonly string[] {
  return splitText(markdown, hasButtons ? SECTION : MAX, (part) => slackMrkdwn(part).length);
}

/** Slack does not fetch, link or mention anything that a model writes. */
const QUIET = { unfurl_links: false, unfurl_media: false, parse: 'none', link_names: false } as const;

/** Notifications show the text if there are blocks; an empty list of blocks removes the previous ones. */
function postBody({ markdown, buttons = [] }: ChannelPost) {
  const text = slackMrkdwn(markdown);
  if (buttons.length === 0) return { text, blocks: [] };
  const section = { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
  return { text, blocks: [section, { type: 'actions', elements: buttons.slice(0, 25).map(button) }] };
}

/** Its label has at most 75 characters; the action's id must be unique in its block. */
function button({ label, data, url }: ChannelButton, index: number) {
  const text = { type: 'plain_text', text: label.slice(0, 75), emoji: false };
  return { type: 'button', text, action_id: `b${index}`, ...(url === undefined ? { value: data } : { url }) };
}

/** Errors that pass, or that somebody may correct; all others would come again. */
const PASSING =
  /^(ratelimited|rate_limited|internal_error|fatal_error|service_unavailable|request_timeout|team_added_to_org|access_denied|invalid_auth|not_authed|account_inactive|token_expired|token_revoked|missing_scope|not_in_channel)$/;

/** @throws ChannelError */
async function call(context: SendContext, method: string, body: object): Promise<Fields> {
  const headers = { authorization: `Bearer ${context.credentials['token']}` };
  return resultOf(await callService(context, `/${method}`, body, { headers }));
}

/** @throws ChannelError */
function resultOf({ status, retryAfter, body: answer }: ServiceAnswer): Fields {
  if (answer['ok'] === true) return answer;
  const error = typeof answer['error'] === 'string' ? answer['error'].slice(0, 200) : undefined;
  throw new ChannelError(`Slack: ${error ?? `it answered ${status}`}`, {
    status,
    retryAfter,
    isFinal: status === 200 && error !== undefined && !PASSING.test(error),
  });
}
