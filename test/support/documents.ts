/** Real documents for tests, made by hand: each as small as its format allows. */
import { strToU8, zipSync } from 'fflate';

/** A PDF with these lines on its pages; a page without lines has a picture's place and no text. */
export function pdfOf(pages: readonly (readonly string[])[]): Buffer {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pages.map((_, at) => `${4 + 2 * at} 0 R`).join(' ')}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((lines, at) => {
      const drawn = `BT /F1 10 Tf 40 800 Td 12 TL ${lines.map((line) => `(${line}) Tj T*`).join(' ')} ET`;
      const page = `/Contents ${5 + 2 * at} 0 R /Resources << /Font << /F1 3 0 R >> >>`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] ${page} >>`,
        `<< /Length ${drawn.length} >>\nstream\n${drawn}\nendstream`,
      ];
    }),
  ];
  return pdfFrom(objects);
}

/** A PDF of one page that is only a picture, as a scanner makes it. */
export function scanOf(width: number, height: number): Buffer {
  const drawn = 'q 595 0 0 842 0 0 cm /Scan Do Q';
  const picture = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8`;
  return pdfFrom([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /Scan 5 0 R >> >> >>',
    `<< /Length ${drawn.length} >>\nstream\n${drawn}\nendstream`,
    `<< ${picture} /Length ${width * height} >>\nstream\n${'\x7f'.repeat(width * height)}\nendstream`,
  ]);
}

function pdfFrom(objects: readonly string[]): Buffer {
  let text = '%PDF-1.4\n';
  const places = objects.map((object, at) => {
    const place = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const head = `xref\n0 ${places.length + 1}\n0000000000 65535 f \n${places.join('')}`;
  const end = `trailer\n<< /Size ${places.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF`;
  return Buffer.from(text + head + end, 'latin1');
}

/** An archive of texts by path. */
export function zipOf(parts: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const bytes = Object.entries(parts).map(([path, part]) => [
    path,
    typeof part === 'string' ? strToU8(part) : part,
  ]);
  return Buffer.from(zipSync(Object.fromEntries(bytes)));
}

function contentTypes(path: string, type: string): string {
  return `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/${path}" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`;
}

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

export function docxOf(body: string, footnotes = ''): Buffer {
  return zipOf({
    '[Content_Types].xml': contentTypes('word/document.xml', 'wordprocessingml.document'),
    'word/document.xml': `<w:document ${W}><w:body>${body}</w:body></w:document>`,
    ...(footnotes !== '' && { 'word/footnotes.xml': `<w:footnotes ${W}>${footnotes}</w:footnotes>` }),
  });
}

const paragraph = (text: string, style = ''): string =>
  `<w:p>${style && `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;
const cell = (text: string): string => `<w:tc>${paragraph(text)}</w:tc>`;

export const DOCX = docxOf(
  `${paragraph('On otters', 'Heading1')}${paragraph('They swim &amp; dive.')}<w:p><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del></w:p>` +
    `<w:tbl><w:tr>${cell('Kind')}${cell('Weight')}</w:tr><w:tr>${cell('Sea | otter')}${cell('45 kg')}</w:tr></w:tbl>`,
);

const relations = (...targets: readonly string[]): string =>
  `<Relationships>${targets.map((target, at) => `<Relationship Id="rId${at + 1}" Target="${target}"/>`).join('')}</Relationships>`;

export const XLSX = zipOf({
  '[Content_Types].xml': contentTypes('xl/workbook.xml', 'spreadsheetml.sheet'),
  'xl/workbook.xml': '<workbook><sheets><sheet name="Sums" sheetId="1" r:id="rId1"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels': relations('worksheets/sheet1.xml'),
  'xl/sharedStrings.xml': '<sst><si><t>Kind</t></si><si><r><t>Sea </t></r><r><t>otter</t></r></si></sst>',
  'xl/worksheets/sheet1.xml':
    '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Weight</t></is></c></row>' +
    '<row r="2"><c r="A2" t="s"><v>1</v></c><c r="C2"><f>40+5</f><v>45</v></c></row></sheetData></worksheet>',
});

/**
 * A workbook with a visible sheet of these rows, and a hidden one; `styles` are number formats, by which cells are
 * distinguished.
 */
export function workbookOf(rows: string, styles: readonly string[], date1904 = false): Buffer {
  const formats = styles.map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code}"/>`).join('');
  const cells = ['0', '14', '22', '46', ...styles.map((_, at) => String(164 + at))];
  const sheet = (data: string) => `<worksheet><sheetData>${data}</sheetData>`;
  return zipOf({
    '[Content_Types].xml': contentTypes('xl/workbook.xml', 'spreadsheetml.sheet'),
    'xl/workbook.xml': `<workbook><workbookPr date1904="${date1904 ? 1 : 0}"/><sheets><sheet name="Sums" r:id="rId1"/><sheet name="Base" state="hidden" r:id="rId2"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations('worksheets/sheet1.xml', '/xl/worksheets/sheet2.xml'),
    'xl/styles.xml': `<styleSheet><numFmts>${formats}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs>${cells.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': `${sheet(rows)}<mergeCells><mergeCell ref="A1:B1"/></mergeCells></worksheet>`,
    'xl/worksheets/sheet2.xml': `${sheet('<row><c t="b"><v>1</v></c></row>')}</worksheet>`,
  });
}

const slide = (text: string): string => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;

/** Its slides are in another order than their files' names. */
export const PPTX = zipOf({
  '[Content_Types].xml': contentTypes('ppt/presentation.xml', 'presentationml.presentation'),
  'ppt/presentation.xml':
    '<p:presentation><p:sldIdLst><p:sldId r:id="rId1"/><p:sldId r:id="rId2"/></p:sldIdLst></p:presentation>',
  'ppt/_rels/presentation.xml.rels': relations('slides/slide2.xml', 'slides/slide1.xml'),
  'ppt/slides/slide1.xml': slide('Thank you').replace('<p:sld>', '<p:sld show="0">'),
  'ppt/slides/slide2.xml': slide('Otters'),
  'ppt/slides/_rels/slide2.xml.rels': relations(
    '../slideLayouts/layout1.xml',
    '../notesSlides/notesSlide1.xml',
  ),
  'ppt/notesSlides/notesSlide1.xml':
    '<p:notes><a:p><a:r><a:t>Wait for it.</a:t></a:r></a:p><a:p><a:fld type="slidenum"><a:t>1</a:t></a:fld></a:p></p:notes>',
});

export const ODT = zipOf({
  mimetype: 'application/vnd.oasis.opendocument.text',
  'content.xml':
    '<office:document-content><text:h text:outline-level="2">On otters</text:h><text:p>They<text:s/><text:span>swim</text:span>.</text:p>' +
    '<table:table><table:table-row><table:table-cell><text:p>Kind</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row></table:table></office:document-content>',
});

export const EPUB = zipOf({
  mimetype: 'application/epub+zip',
  'META-INF/container.xml':
    '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
  'OPS/book.opf':
    '<package><manifest><item id="b" href="two.xhtml"/><item id="a" href="one.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
  'OPS/one.xhtml': '<html><body><p>Chapter one.</p><script>evil()</script></body></html>',
  'OPS/two.xhtml': '<html><body><p>Chapter two.</p></body></html>',
});

/** A second of silence. */
export function wavOf(): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + 8_000, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(8_000, 40);
  return Buffer.concat([header, Buffer.alloc(8_000, 128)]);
}

/** The head of a film, which is all that anything but a player reads. */
export const MP4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\x02\0isommp41', 'latin1'),
  Buffer.alloc(64),
]);
