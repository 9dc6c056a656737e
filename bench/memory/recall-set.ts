/**
 * A set of questions about what memory is for: 60 long sessions as documents, 200 facts in them, and a question for
 * each. Some facts change later or are wrong at first. A rule makes the set, so that it is the same everywhere. The
 * ranking was tuned on the kinds of the first half. The kinds of the second half were written afterwards, and the
 * ranking was not changed for them.
 */

export interface RecallDocument {
  readonly path: string;
  readonly text: string;
}

export interface RecallQuestion {
  readonly text: string;
  readonly half: 'tuned' | 'unseen';
  /** A piece that answers contains one of these. */
  readonly evidence: readonly string[];
}

export interface RecallSet<Question = RecallQuestion> {
  readonly documents: readonly RecallDocument[];
  readonly questions: readonly Question[];
}

const PEOPLE = 'Anna Boris Chiara Dmitri Elif Farid Greta Hugo Ines Jonas'.split(' ');

/** The statement, two questions for it (P is the person), and the sources of its values. */
type Kind = readonly [said: string, plain: string, other: string, values: string];

const TUNED: readonly Kind[] = [
  [
    'dentist is Dr',
    'Who is the dentist of P?',
    "Who looks after P's teeth?",
    'Moreau Lindqvist Okafor Santos Weber',
  ],
  [
    'daughter goes to the school',
    'Which school does the daughter of P go to?',
    'Where is the child of P taught?',
    'Birkenau Lakeside Montessori Northgate Riverbank',
  ],
  [
    'favourite dish is',
    "What is P's favourite dish?",
    'What does P like to eat most?',
    'lasagne ramen goulash paella pierogi',
  ],
  [
    'allergy is to',
    'What is P allergic to?',
    'Which allergies does P have?',
    'peanuts shellfish pollen penicillin latex',
  ],
  [
    'flight leaves at',
    'When does the flight of P leave?',
    'At what time does P fly?',
    '06:40 09:15 13:55 18:20 22:05',
  ],
  [
    'landlord is called',
    "What is the name of P's landlord?",
    'Who owns the flat that P rents from a landlord?',
    'Petersen Albrecht Nakamura Duval Costa',
  ],
  ['car is a', 'Which car does P have?', 'What does P drive, which car?', 'Volvo Fiat Toyota Skoda Citroen'],
  [
    'invoice number is',
    "What is P's invoice number?",
    'Under which number was the invoice for P sent?',
    'INV-2041 INV-3177 INV-4052 INV-5863 INV-6790',
  ],
  [
    'meeting room is',
    'Which meeting room does P use?',
    'In which room does P have meetings?',
    'Saturn Jupiter Neptune Mercury Pluto',
  ],
  [
    'wifi is named',
    "What is P's wifi called?",
    "Which wifi name does P's home have?",
    'bluefox greenowl redpanda greywolf blackswan',
  ],
];
const UNSEEN: readonly Kind[] = [
  [
    'locker combination is',
    "What is the combination of P's locker?",
    'How does P open the locker?',
    '4471 9038 2216 6605 8142',
  ],
  [
    'piano teacher is called',
    "Who is P's piano teacher?",
    'Who gives P lessons on the piano?',
    'Ivanova Dubois Castillo Ferreira Lindgren',
  ],
  [
    'passport expires in',
    "When does P's passport expire?",
    'Until when is the passport of P valid?',
    'January-2027 August-2028 May-2029 October-2030 February-2031',
  ],
  [
    'bicycle is painted',
    "What colour is P's bicycle?",
    'In which colour is the bicycle of P painted?',
    'turquoise crimson mustard ivory violet',
  ],
  [
    'wedding takes place in',
    'Where does the wedding of P take place?',
    'In which town does P marry?',
    'Salzburg Porto Utrecht Siena Bergen',
  ],
  [
    'tax advisor works at',
    "Where does P's tax advisor work?",
    'Which firm does the advisor on taxes of P belong to?',
    'Hallmark Brightwater Kessler Norwood Ashcombe',
  ],
  [
    'medication is taken',
    'When does P take the medication?',
    'How often has P to take medication?',
    'hourly nightly weekly at-noon before-breakfast',
  ],
  [
    'printer is connected to port',
    "Which port is P's printer connected to?",
    'Where is the printer of P plugged in?',
    '8612 9100 7755 5150 6310',
  ],
  [
    'nephew studies',
    "What does P's nephew study?",
    'Which subject has the nephew of P chosen?',
    'geology linguistics astronomy botany theology',
  ],
  [
    'parcel was left with',
    "With whom was P's parcel left?",
    'Who has the parcel for P?',
    'the-baker the-florist the-janitor the-neighbour the-librarian',
  ],
];

const FILLER = [
  'We talked about the weather in the valley and the price of bread.',
  'P asked for a shorter list and then wanted the longer one after all.',
  'The report was sent again, because the first one had no numbers in it.',
  'P said that the plan for the weekend depends on the trains.',
  'There was a long talk about where to put the old shelf.',
  'P mentioned the NOUN again, and that there was nothing new about it.',
  'The user wanted to know how many days are left until the holidays.',
  'P has not yet decided whether to call about the NOUN this week.',
  'We looked at three pictures of the garden and chose none.',
  'The tests were green in the evening, after the cache had been emptied.',
];

const SESSIONS = 60;
const LINES = 40;

/** A Park-Miller generator, which gives the same numbers everywhere. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

export function makeRecallSet(): RecallSet {
  const random = randomFrom(20_260_901);
  const sessions = Array.from({ length: SESSIONS }, (_, session) =>
    Array.from({ length: LINES }, () => filler(session, random)),
  );
  const say = (session: number, line: string): void => {
    sessions[session]?.splice(random(LINES), 0, line);
  };
  const kinds = [...TUNED, ...UNSEEN];
  const questions = kinds.flatMap(([words, plain, other, values], kind) =>
    PEOPLE.map((person, at): RecallQuestion => {
      const all = values.split(' ');
      const value = all[(at + kind) % all.length] ?? '';
      const old = all[(at + kind + 2) % all.length] ?? '';
      const [early, late] = [random(SESSIONS / 2), SESSIONS / 2 + random(SESSIONS / 2)];
      const fact = `${person}'s ${words} ${value}.`;
      const changed = `Something has changed: ${person}'s ${words} ${value} now, no longer ${old}.`;
      const corrected = `That was a mistake, corrected: ${person}'s ${words} ${value}.`;
      const way = (at + kind) % 3;
      if (way > 0) say(early, `${person}'s ${words} ${old}.`);
      const now = [fact, changed, corrected][way] ?? fact;
      say(late, now);
      const text = (at % 4 === 0 ? other : plain).replaceAll('P', person);
      return { text, half: kind < TUNED.length ? 'tuned' : 'unseen', evidence: [now] };
    }),
  );
  return { documents: sessions.map(documentOf), questions };
}

function filler(session: number, random: (below: number) => number): string {
  const line = FILLER[random(FILLER.length)] ?? '';
  const noun = ([...TUNED, ...UNSEEN][random(20)]?.[0] ?? '').split(' ')[0] ?? '';
  return line
    .replace(/^P\b|\bP\b/, PEOPLE[(session + random(4)) % PEOPLE.length] ?? '')
    .replace('NOUN', noun);
}

function documentOf(lines: readonly string[], session: number): RecallDocument {
  const day = new Date(Date.UTC(2026, 0, 1 + session * 3)).toISOString().slice(0, 10);
  const parts = Array.from({ length: Math.ceil(lines.length / 5) }, (_, part) =>
    lines.slice(part * 5, part * 5 + 5).join('\n'),
  );
  return { path: `memory/${day}.md`, text: `# Session of ${day}\n\n${parts.join('\n\n')}\n` };
}
