/** `tools` of the settings contains a policy and fields that apply to a whole installation. */
const OF_INSTALLATION = ['rate_limit_per_hour', 'rate_limit_burst', 'denied_paths'] as const;

type OfInstallation = (typeof OF_INSTALLATION)[number];

/** The policy in it, of the same form as those of tenants and agents. */
export function toolPolicyOf<Tools extends object>(tools: Tools): Omit<Tools, OfInstallation> {
  const isPolicy = ([name]: [string, unknown]): boolean => !OF_INSTALLATION.includes(name as OfInstallation);
  return Object.fromEntries(Object.entries(tools).filter(isPolicy)) as Omit<Tools, OfInstallation>;
}
