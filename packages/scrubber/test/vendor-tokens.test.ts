/** SC-1: keys of vendors, made up for these tests; none was ever issued. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scrubText } from '@tempoclaw/scrubber';

const scrub = (text: string): string => scrubText(text).text;

/** Mixed letters and digits, and hexadecimal digits, of a length. */
const mixed = (length: number): string => 'FAKEa1B2c3D4'.repeat(20).slice(0, length);
const upper = (length: number): string => 'FAKE1B2C3D4E'.repeat(20).slice(0, length);
const hex = (length: number): string => 'fa4e01b7'.repeat(20).slice(0, length);
const UUID = `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`;

describe("SC-1 a vendor's key goes, whatever stands before it", () => {
  const keys = [
    `GR1348941${mixed(20)}`,
    `${mixed(11)}:APA91b${mixed(134)}`,
    `hcaik_${hex(58)}`,
    `${hex(36)}NRAL`,
    `pk_12345678_${upper(32)}`,
    `api-${UUID}`,
    `md-${mixed(22)}`,
    `dG9rOj${mixed(53)}=`,
    `st.${hex(24)}.${hex(32)}.${hex(32)}`,
    `xprv${mixed(107)}`,
    `mdb_sa_sk_${mixed(40)}`,
    `sgp_${mixed(64)}`,
    `${'A'.repeat(22)}${mixed(60)}%2F${mixed(30)}`,
    `ddp_${mixed(36)}`,
    `v4.local.${mixed(80)}`,
    `polar_oat_${mixed(40)}`,
    `esecret_${hex(26)}`,
    `aio_${mixed(28)}`,
    `https://hooks.zapier.com/hooks/catch/1234567/${hex(7)}`,
    `https://maker.ifttt.com/trigger/done/with/key/${mixed(43)}`,
  ];
  for (const key of keys)
    test(key.slice(0, 40), () => {
      for (const text of [`the key ${key} works`, `X=${key}`, `"${key}"`])
        assert.ok(!scrub(text).includes(key.slice(5)), scrub(text));
    });
});

describe('SC-1 a secret beside its user or its key', () => {
  const beside = [
    `AC${hex(32)}:${mixed(32)}@api.vendor.test`,
    `curl service-user:${mixed(24)}@queue.vendor.test/jobs`,
    `Access key ID,Secret access key\nAKIA${upper(16)},${mixed(40)}`,
    `| AKIA${upper(16)} | ${mixed(40)} |`,
    `DD-APPLICATION-KEY: ${mixed(40)}`,
    `API_KEY+=${mixed(20)}`,
    `The password for admin@host.test is: ${mixed(20)}`,
    `Password changed to ${mixed(20)}`,
    "DB_PASSWORD='Correct Horse Battery Staple'",
  ];
  for (const text of beside)
    test(text.slice(0, 40), () => {
      const secret = text.includes('Correct') ? 'Horse' : mixed(20);
      assert.ok(!scrub(text).includes(secret), scrub(text));
      assert.equal(scrub(scrub(text)), scrub(text));
    });
});

describe('SC-1 what only resembles these stays', () => {
  for (const text of [
    'postgres://USER:PASSWORD@HOST:5432/DB',
    'GOOGLE_APPLICATION_CREDENTIALS=/path/to/key.json',
    'const TOKEN_REGEX = /^[a-z]+$/;',
    `registry.vendor.test/app:build-${hex(20)}@sha256:${hex(64)}`,
    `node:20-alpine@sha256:${hex(64)}`,
    `npm:string-width-long-name-12@1.2.3`,
    `git@host.vendor.test:team/repository-${hex(8)}.git`,
    'md-button-toggle-group-item',
    'api-gateway-production-eu-1',
    'pk_live_publishable',
    'password reset to default',
    'The token for step 3 is 12345',
    'tokens+=12345678',
    'The password for admin is not set',
    `https://hooks.zapier.com/docs`,
    'AKIAIOSFODNN7, three short words',
    "ERR_PASSWORD='Your password is wrong'",
  ])
    test(text.slice(0, 60), () => assert.equal(scrub(text), text));
});
