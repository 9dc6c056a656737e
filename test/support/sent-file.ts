/** Files in the forms that chat services on this machine receive. */

export interface SentFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** The fields of a body, be it JSON or a form; a file as a SentFile. */
export async function fieldsOf(contentType: string | undefined, bytes: Buffer): Promise<any> {
  if (bytes.length === 0) return undefined;
  if (!/^(?:multipart\/form-data|application\/x-www-form-urlencoded)/.test(contentType ?? ''))
    return JSON.parse(bytes.toString());
  const form = await new Response(new Uint8Array(bytes), {
    headers: { 'content-type': contentType ?? '' },
  }).formData();
  const fields = [...form].map(async ([name, value]) => {
    if (typeof value === 'string') return [name, value] as const;
    const file = { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
    return [name, file] as const;
  });
  return Object.fromEntries(await Promise.all(fields));
}
