/**
 * Finds which runs of a word processor's text nobody sees (WordprocessingML): hidden ones, tiny ones, and white ones on
 * white.
 */

type Attributes = Readonly<Record<string, string | undefined>>;

/** Follows the elements as they come: a run's look precedes its text. */
export interface RunSight {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** Whether the current text is hidden. */
  isHidden(): boolean;
}

/** Half points of letters that nobody reads. */
const TINY = 4;
/** Styles of tables that shade no cell. */
const PLAIN_TABLE = /^(?:TableGrid|TableNormal|Tabellenraster|Table Grid)$/i;

export function createRunSight(): RunSight {
  let [isVanished, isTiny, isWhite] = [false, false, false];
  /**
   * Whether the text has a background that is not white: of the page, the enclosing tables and cells, the paragraph,
   * the run.
   */
  const shades = [false];

  return {
    open(name, attributes) {
      if (NESTED.test(name)) shades.push(false);
      if (name === 'w:r') [isVanished, isTiny, isWhite] = [false, false, false];
      const value = attributes['w:val'] ?? '';
      if (name === 'w:vanish') isVanished = value !== '0' && value !== 'false';
      if (name === 'w:sz') isTiny = Number(value) <= TINY;
      if (name === 'w:color') isWhite = WHITE.test(value);
      if (isShading(name, attributes)) shades[shades.length - 1] = true;
    },
    close(name) {
      if (NESTED.test(name) && shades.length > 1) shades.pop();
      if (name === 'w:r') [isVanished, isTiny, isWhite] = [false, false, false];
    },
    isHidden: () => isVanished || isTiny || (isWhite && !shades.includes(true)),
  };
}

const WHITE = /^f{6}$/i;

function isShading(name: string, attributes: Attributes): boolean {
  const value = attributes['w:val'] ?? '';
  const fill = attributes['w:fill'] ?? (name === 'w:background' ? attributes['w:color'] : undefined);
  return (
    (fill !== undefined && fill !== 'auto' && !WHITE.test(fill)) ||
    attributes['w:themeFill'] !== undefined ||
    (name === 'w:highlight' && value !== 'none') ||
    (name === 'w:tblStyle' && !PLAIN_TABLE.test(value))
  );
}

const NESTED = /^w:(?:tbl|tc|p|r)$/;
