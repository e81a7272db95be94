/**
 * Characters that are not seen, that look like another, or that change the order in which others are: controls, marks of
 * direction, what may be ignored when it is shown (fillers, joiners, selectors of variants, with which whole texts have been
 * hidden behind one letter), separators, spaces that are not one, signs that are blank, halves of characters, and what no font knows.
 */
export const UNSEEN =
  /[^\P{C}\t]|\p{Default_Ignorable_Code_Point}|[\p{Zl}\p{Zp}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]|[^\P{Zs} ]/gu;

export function isUnseenIn(line: string): boolean {
  return line.search(UNSEEN) !== -1;
}
