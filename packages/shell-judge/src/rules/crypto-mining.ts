/** Rules against crypto mining. */
import { categoryOf } from './rule.ts';

export const cryptoMining = categoryOf('crypto_mining', [
  {
    deny: 'mines',
    programs:
      /^(?:xmrig\S*|xmr-stak\S*|minerd|cpuminer\S*|cgminer|bfgminer|ethminer|nbminer|t-rex|lolminer|phoenixminer|gminer|ccminer|nanominer|srbminer\S*|claymore\S*|teamredminer|wildrig\S*|nicehash\S*)$/,
  },
  { deny: 'joins a mining pool', argument: /^(?:-\w+=?|--[\w-]+=)?stratum\+?(?:tcp|ssl|udp)?:\/\// },
]);
