import type { Behaviour } from "../../call.ts";
import { FROM, OUTPUT } from "../../values/flow.ts";
import { aNumber, plainWord, sameText, type Text, textOf } from "../../values/text.ts";
import { reader } from "./files.ts";

// Programs that print a word or a number that no path is made of.

const prints = (word: Text) => ({ from: FROM.program, names: [word] });

/** `uname -s`, `uname -m` and their like. */
export const oneWord: Behaviour = ({ args }) =>
  args.every((arg) => /^-[smp]$/.test(textOf(arg))) ? prints(plainWord) : OUTPUT;

const chosen = reader({
  rules: { valued: "i n o r input-range head-count output" },
  writes: ["o", "output"],
  keeps: () => true,
});

/** `shuf -i 2000-3000 -n 1` prints a number. */
export const shuf: Behaviour = (call) => {
  const flow = chosen(call);
  return /^-i \d+-\d+ -n ?\d+$/.test(call.args.map(textOf).join(" ")) ? prints(aNumber) : flow;
};

const LETTERS = /^(?:\[:(?:upper|lower):\]|A-Z|a-z)$/;

const translated = reader({});

/** Letters of a word of which nothing is known are letters again. */
export const tr: Behaviour = (call) => {
  const flow = translated(call);
  const { names = [] } = call.spot.input;
  const isWord = names.length > 0 && names.every((name) => sameText(name, plainWord));
  return isWord && call.args.length === 2 && call.args.every((arg) => LETTERS.test(textOf(arg)))
    ? call.spot.input
    : flow;
};
