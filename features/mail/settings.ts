/** PO-1: the server that sends mails about approvals. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';
import { passwordOf } from '#config/password-of.ts';
const schema = z
  .strictObject({
    url: z
      .string()
      .max(2_000)
      .refine(isMailServer, {
        error:
          'must be smtp://user:password@host:587 (with STARTTLS; ?tls=none behind it for none) or smtps://…:465, what is special in it percent-encoded',
      })
      .exactOptional(),
    /** Without it, the user of the URL, if that is an address, else tempoclaw@host. */
    from: z.email().exactOptional(),
  })
  .prefault({});

function isMailServer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(text);
  const isQueryKnown = protocol === 'smtps:' ? search === '' : ['', '?tls=none'].includes(search);
  const isWhole = /^smtps?:$/.test(protocol) && hostname !== '' && /^\/?$/.test(pathname) && hash === '';
  return isQueryKnown && isWhole && !/%(?![0-9a-f]{2})/i.test(username + password);
}

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly mail: z.output<typeof schema>;
  }
}

export const mailSettings = defineSection({
  name: 'mail',
  schema,
  variables: [
    [['SMTP_URL'], 'mail.url', 'text'],
    [['TEMPOCLAW_MAIL_FROM'], 'mail.from', 'text'],
  ],
  secrets: ({ url }) => [passwordOf(url)],
});
