import { eastAsianWidth } from "get-east-asian-width";

/** Takes one column per character: ASCII, Latin letters, and the signs that our own tables are drawn with. */
const NARROW = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff…█░│✓✗]*$/;

interface Unicode {
  readonly segmenter: Intl.Segmenter;
  readonly emoji: RegExp;
  readonly visible: RegExp;
  readonly pictographs: RegExp;
}

let unicode: Unicode | undefined;

/** Made when the first text needs it: the tables behind these cost more time than the rest of `prloom status`. */
function rules(): Unicode {
  unicode ??= {
    segmenter: new Intl.Segmenter(),
    emoji: /^(?:\p{RGI_Emoji}|[\d#*]\u20e3)$/v,
    visible: /[^\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Cs}]/v,
    pictographs: /\p{Extended_Pictographic}/gu,
  };
  return unicode;
}

/** Pieces of a string that a reader takes for one character each. */
export function* graphemes(text: string): Generator<string> {
  if (NARROW.test(text)) {
    yield* text;
    return;
  }
  for (const { segment } of rules().segmenter.segment(text)) yield segment;
}

/** Columns that a string takes in a terminal. It must hold no escape sequences (see `visible`). */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const segment of graphemes(text)) width += clusterWidth(segment);
  return width;
}

/** Longer than any emoji; clusters beyond it are marks heaped up to cost time. */
const MAX_EMOJI = 50;
const JAMO = /[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]/;

function clusterWidth(cluster: string): number {
  if (NARROW.test(cluster)) return cluster.length;
  const { emoji, visible } = rules();
  if (cluster.length <= MAX_EMOJI && (emoji.test(cluster) || isJoined(cluster))) return 2;
  let width = 0;
  // Single letters of Hangul that make one syllable are drawn as that syllable.
  for (const char of cluster.length <= MAX_EMOJI && JAMO.test(cluster) ? cluster.normalize("NFC") : cluster) {
    if (visible.test(char)) width += eastAsianWidth(char.codePointAt(0) ?? 0);
  }
  return width;
}

/** Pictures joined into one, also where Unicode does not list the combination. */
function isJoined(cluster: string): boolean {
  return cluster.includes("\u200d") && (cluster.match(rules().pictographs)?.length ?? 0) >= 2;
}
