/** Which of a service's headers is its key is not known: all are taken for one but those that say how to answer. */
export function secretHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    /^(?:accept|content-type|user-agent)/i.test(name) ? [] : [value],
  );
}
