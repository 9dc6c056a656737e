/** memory_search in languages other than English, and by identifiers as people type them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { askQuestions } from '../../bench/memory/measure-recall.ts';
const OTHERS = Array.from({ length: 150 }, (_, i) => ({
  path: `memory/f/${i}.md`,
  text: `# Log ${i}\n\nWe talked about item ${i} of the plan, the office move number ${i} and the team lunch.\n\nThe retry of job ${i} took ${i * 3} seconds. Version 1.${i}.0 was released. Contact user${i}@example.org about INC-${1000 + i}.\n\nLa réunion ${i} a été déplacée. Die Besprechung ${i} wurde verschoben. 会議${i}は延期された。`,
}));
const DOCUMENTS = [
  {
    path: 'memory/de.md',
    text: '# Haushalt\n\nDie Heizungsfirma heißt Müller Wärmetechnik, Telefon 0711 4433.\n\nDer Kaminkehrer kommt immer im Oktober.\n\nUnser Vermieter ist Herr Größler, er wohnt in Tübingen.',
  },
  {
    path: 'memory/fr.md',
    text: '# Maison\n\nLa femme de ménage vient le mardi matin.\n\nLe médecin de famille s’appelle docteur Lefèvre, rue des Écoles.\n\nLes vacances commencent le 12 juillet.',
  },
  {
    path: 'memory/ja.md',
    text: '# メモ\n\n田中さんの誕生日は三月十日です。\n\n東京オフィスの鍵は受付にあります。\n\n冷蔵庫の修理は来週の火曜日です。',
  },
  {
    path: 'memory/region.md',
    text: '# Region\n\n2026-03-02: The region of the cluster is eu-north-1.\n\n2026-05-14: The region of the cluster is eu-west-3.\n\n2026-09-20: The region of the cluster is us-east-2.',
  },
  {
    path: 'memory/ids.md',
    text: '# Systems\n\nThe invoice export is written by src/billing/exportInvoices.ts.\n\nThe limit is set by max_upload_bytes in config/limits.yaml.\n\nWe pinned openssl to 3.0.14 after the outage.\n\nAsk petra.schulz@kontor-nord.de for access to the vault.\n\nTicket INC-2291 was the broken certificate.\n\nSOP-118 says how to rotate keys.',
  },
];
/** Questions with words of the piece that answers. */
const QUESTIONS: readonly (readonly [string, string])[] = [
  ['Wie heißt die Firma für die Heizung?', 'Müller Wärmetechnik'],
  ['heizungsfirma telefonnummer', 'Müller Wärmetechnik'],
  ['wann kommt der Kaminkehrer', 'Oktober'],
  ['Wo wohnt der Vermieter?', 'Größler'],
  ['vermieter groessler', 'Größler'],
  ['Vermieter Grossler', 'Größler'],
  ['quand vient la femme de menage', 'mardi'],
  ['nom du medecin de famille', 'Lefèvre'],
  ['docteur lefevre adresse', 'Lefèvre'],
  ['début des vacances', '12 juillet'],
  ['Quel est notre médecin ?', 'Lefèvre'],
  ['田中さんの誕生日', '三月十日'],
  ['東京オフィスの鍵はどこ', '受付'],
  ['冷蔵庫の修理はいつ', '火曜日'],
  ['誕生日 田中', '三月十日'],
  ['region of the cluster in May', 'eu-west-3'],
  ['what was the region of the cluster in march', 'eu-north-1'],
  ['region of the cluster now', 'us-east-2'],
  ['exportInvoices', 'exportInvoices.ts'],
  ['export_invoices file', 'exportInvoices.ts'],
  ['export invoices source', 'exportInvoices.ts'],
  ['maxUploadBytes', 'max_upload_bytes'],
  ['limits.yaml', 'max_upload_bytes'],
  ['openssl 3.0.14', '3.0.14'],
  ['which openssl version', '3.0.14'],
  ['petra.schulz@kontor-nord.de', 'petra.schulz'],
  ['petra schulz vault', 'petra.schulz'],
  ['kontor nord contact', 'petra.schulz'],
  ['INC2291', 'INC-2291'],
  ['inc 2291', 'INC-2291'],
  ['sop118', 'SOP-118'],
  ['certifcate ticket', 'INC-2291'],
  ['who grants access to vualt', 'petra.schulz'],
];
describe('TL memory_search among 150 documents of other things', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await database.pool.query(`insert into tenants values ('t', 't')`);
    await database.pool.query(
      `insert into agents (tenant_id, key, revision, config) values ('t', 'main', 1, '{}')`,
    );
  });
  after(() => database.drop());

  it('finds the answer to each question in German, French, Japanese and by identifiers', async () => {
    const place = { pool: database.pool, tenant: 't', agent: 'main', user: 'u' };
    const requests = QUESTIONS.map(([text, evidence]) => ({ text, evidence: [evidence] }));
    const answered = await askQuestions(place, [...OTHERS, ...DOCUMENTS], requests);
    const missed = answered.filter((one) => one.place === undefined).map(({ question }) => question.text);
    assert.deepEqual(missed, []);
  });
});
