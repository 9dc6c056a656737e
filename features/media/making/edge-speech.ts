/**
 * Makes speech with Microsoft Edge's reader: a WebSocket, SSML in, MP3 in pieces out. It needs no key, but the same
 * headers as its browser.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type MediaMaker, MediaProblem } from './media-maker.ts';

/** Edge's own id, the same in every copy of it. */
const CLIENT = '6A5AA1D4EAFF4E9FB37E23D68491D6F4';
const EDGE = '143.0.3650.75';
const PATH = '/consumer/speech/synthesize/readaloud/edge/v1';
const VOICE = 'en-US-AriaNeural';
/** Bytes of SSML in a message. */
const MAX = 60_000;
/** Seconds from 1601, the start of Windows time, to 1970; a token is valid for five minutes. */
const SINCE_1601 = 11_644_473_600;
const TOKEN_SECONDS = 300;

const HEADERS = {
  pragma: 'no-cache',
  'cache-control': 'no-cache',
  origin: 'chrome-extension://jdiccldimpdaibmpdkjnbmckianbfold',
  'user-agent': `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${EDGE.split('.')[0]}.0.0.0 Safari/537.36 Edg/${EDGE.split('.')[0]}.0.0.0`,
};

export const edgeSpeech: MediaMaker = {
  async order(access, { request: { prompt, voice = VOICE } }) {
    if (!/^[a-z]{2,3}-[A-Za-z]{2,4}(?:-[A-Za-z]+)*-\w{1,60}Neural$/.test(voice))
      throw new MediaProblem('refused', `it has no voice ${voice.slice(0, 60)}; one is ${VOICE}`);
    const ssml = ssmlOf(prompt, voice);
    if (Buffer.byteLength(ssml) > MAX) throw new MediaProblem('refused', 'the text is too long for it');
    const query = new URLSearchParams({
      TrustedClientToken: CLIENT,
      'Sec-MS-GEC': tokenAt(Date.now() / 1000),
      'Sec-MS-GEC-Version': `1-${EDGE}`,
      ConnectionId: plainId(),
    });
    const socket = access.connect(`${access.base}${PATH}?${query.toString()}`, HEADERS, access.signal);
    const pieces: Buffer[] = [];
    for await (const message of socket.messages([configMessage(), ssmlMessage(ssml)])) {
      if (typeof message === 'string') {
        if (/^Path:turn\.end\r?$/m.test(message)) break;
      } else pieces.push(audioIn(message));
    }
    socket.close();
    const bytes = Buffer.concat(pieces);
    if (bytes.length === 0) throw new MediaProblem('refused', 'it sent no sound');
    return { bytes };
  },
};

/** A binary message begins with the length of its headers, in two bytes. */
function audioIn(message: Buffer): Buffer {
  return message.length < 2 ? Buffer.alloc(0) : message.subarray(2 + message.readUInt16BE(0));
}

function tokenAt(seconds: number): string {
  const since = Math.floor(seconds) + SINCE_1601;
  const ticks = BigInt(since - (since % TOKEN_SECONDS)) * 10_000_000n;
  return createHash('sha256').update(`${ticks}${CLIENT}`, 'ascii').digest('hex').toUpperCase();
}

const plainId = (): string => randomUUID().replaceAll('-', '');

function configMessage(): string {
  const options = { sentenceBoundaryEnabled: 'false', wordBoundaryEnabled: 'false' };
  const audio = { metadataoptions: options, outputFormat: 'audio-24khz-48kbitrate-mono-mp3' };
  const body = JSON.stringify({ context: { synthesis: { audio } } });
  return `X-Timestamp:${new Date().toString()}\r\nContent-Type:application/json; charset=utf-8\r\nPath:speech.config\r\n\r\n${body}\r\n`;
}

function ssmlMessage(ssml: string): string {
  return `X-RequestId:${plainId()}\r\nContent-Type:application/ssml+xml\r\nX-Timestamp:${new Date().toString()}Z\r\nPath:ssml\r\n\r\n${ssml}`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Removes characters that XML does not allow. */
function ssmlOf(text: string, voice: string): string {
  const words = text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ' ')
    .replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? sign);
  const language = voice.split('-').slice(0, 2).join('-');
  return `<speak version='1.0' xmlns='http://www.w3.org/2001/10/synthesis' xml:lang='${language}'><voice name='${voice}'><prosody pitch='+0Hz' rate='+0%' volume='+0%'>${words}</prosody></voice></speak>`;
}
