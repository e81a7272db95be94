import type { Behaviour } from "../call.ts";
import { readArguments } from "../options.ts";
import { contentOf, inFolder, reads, writes } from "../paths.ts";
import { noteEffect, type Spot } from "../state/state.ts";
import { type Flow, FROM, joinFlows, NOTHING, OUTPUT, TERMINAL, textsOfFlow } from "../values/flow.ts";
import { describeText, fillIn, known, type Text, textOf, unknown } from "../values/text.ts";

/** Where the words of its input go: in place of a mark, or to the end. */
export const xargs: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "I replace J L max-lines n max-args P max-procs s max-chars S E eof d delimiter a arg-file",
    long: "null verbose no-run-if-empty interactive exit open-tty",
    stopsAtOperand: true,
  });
  for (const file of given.values("a", "arg-file")) reads(spot, file);
  const words = given.operands.length > 0 ? given.operands : [known("echo")];
  const [mark] = given.has("i") ? [known("{}")] : given.values("I", "replace", "J");
  const isWhole = given.has("0", "null", "d", "delimiter");
  const lists = given.values("a", "arg-file");
  const listed = {
    ...spot,
    input: lists.length > 0 ? joinFlows(lists.map((list) => contentOf(list, spot))) : spot.input,
  };
  const inner: Spot = { ...spot, input: NOTHING };
  const run = (list: readonly Text[]) => spot.line.engine.runWords(list, inner);
  if (mark && textOf(mark) !== "") {
    const filled = (value: Text | undefined) =>
      words.map((word) =>
        word.type === "known" && word.text.includes(textOf(mark)) ? fillIn(word.text, textOf(mark), value) : word,
      );
    return joinFlows(inputItems(listed, { isWhole, separator: /\n/ }).map((line) => run(filled(line))));
  }
  const items = inputItems(listed, { isWhole, separator: /\s+/ });
  const [count] = given.values("n", "max-args", "L", "max-lines").map((text) => Number(textOf(text)));
  if (!count || items.length <= count) return run([...words, ...items]);
  const flows: Flow[] = [];
  for (let at = 0; at < items.length; at += count) flows.push(run([...words, ...items.slice(at, at + count)]));
  return joinFlows(flows);
};

interface Items {
  /** Quotes and backslashes in it are not special. */
  readonly isWhole: boolean;
  readonly separator: RegExp;
}

/** What stands in the input, one by one. */
function inputItems({ input }: Spot, { isWhole, separator }: Items): Text[] {
  if (input === TERMINAL) return [unknown("it is what is typed")];
  if (input.text === undefined) return textsOfFlow(input).filter((one) => one.type !== "known" || one.text !== "");
  // Quotes are taken away before it is filled in: what stands there then must not be taken for a program's own.
  if (!isWhole && /["'\\]/.test(input.text))
    return [{ type: "unknown", why: "it has quotes in it", from: FROM.decoded }];
  const items = input.text.split(isWhole ? /[\0\n]/ : separator);
  // With a separator of its own, what is empty is one of them.
  return (isWhole && input.text !== "" ? items : items.filter(Boolean)).map(known);
}

/** GNU parallel: a command, then `:::` and its arguments. */
export const parallel: Behaviour = ({ args, spot: outer }) => {
  const at = args.findIndex((arg) => /^:::?\+?$|^::::\+?$/.test(textOf(arg)));
  const given = readArguments(at < 0 ? args : args.slice(0, at), {
    valued:
      "max-args j jobs a arg-file I colsep delay timeout retries joblog results res tmpdir S sshlogin sshloginfile slf workdir wd N n L k",
    stopsAtOperand: true,
  });
  for (const place of given.values("joblog", "results", "res", "tmpdir")) writes(outer, place);
  const spot = inFolder(outer, given.values("workdir", "wd"));
  for (const machine of given.values("S", "sshlogin", "sshloginfile", "slf"))
    if (textOf(machine) !== ":")
      noteEffect(spot, { kind: "sends", what: `works on another machine: ${describeText(machine)}` });
  const isNone = given.values("n", "N", "max-args").some((count) => textOf(count) === "0");
  const behind = at < 0 ? [] : args.slice(at + 1);
  const isList = textOf(args[at] ?? known("")).startsWith("::::");
  const lists = [...given.values("a", "arg-file"), ...(isList ? behind : [])];
  const listed = lists.length > 0 ? joinFlows(lists.map((list) => contentOf(list, spot))) : spot.input;
  const isNamed = at >= 0 && !isList && lists.length === 0;
  const items = isNamed ? behind : inputItems({ ...spot, input: listed }, { isWhole: true, separator: /\n/ });
  const inputs = isNone ? [] : items;
  if (given.operands.length === 0) {
    for (const value of inputs) spot.line.engine.runSource(value, spot);
    return OUTPUT;
  }
  if (given.has("pipe", "pipepart", "spreadstdin")) spot.line.engine.runWords(given.operands, spot);
  if (given.operands.some((word) => word.type !== "known")) return spot.line.engine.runWords(given.operands, spot);
  const line = given.operands.map(textOf).join(" ");
  for (const value of inputs.length > 0 ? inputs : [known("")]) {
    const word = value.type !== "known" ? undefined : isNone ? "" : `'${value.text.replaceAll("'", "'\\''")}'`;
    if (word === undefined)
      return spot.line.engine.runWords(
        [
          ...given.operands.flatMap((one) => textOf(one).split(/\s+/).map(known)).filter((one) => textOf(one) !== "{}"),
          value,
        ],
        { ...spot, input: NOTHING },
      );
    const isPlaced = /\{\.?\/?\.?\}/.test(line);
    spot.line.engine.runSource(known(isPlaced ? line.replace(/\{\.?\/?\.?\}/g, word) : `${line} ${word}`), {
      ...spot,
      input: NOTHING,
    });
  }
  return OUTPUT;
};
