/** It is unknown which of a service's headers contains its key, so all count as secret except content negotiation. */
export function secretHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    /^(?:accept|content-type|user-agent)/i.test(name) ? [] : [value],
  );
}
