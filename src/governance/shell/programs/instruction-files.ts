import { contentOf, descriptorOf, noteSecrets } from "../paths.ts";
import { noteEffect, type Spot } from "../state/state.ts";
import { type Flow, FROM, textsOfFlow } from "../values/flow.ts";
import { known, type Text, textOf } from "../values/text.ts";

/** Names in a flow, one a line, or ended by zeros. */
export function namesInFlow(flow: Flow): Text[] {
  const [text, ...more] = textsOfFlow(flow);
  if (text?.type !== "known") return text ? [text, ...more] : [];
  return text.text
    .split(/[\0\n]/)
    .filter(Boolean)
    .map(known);
}

/** Names that a program reads from what is not a file of the worktree: those in a file are its own matter. */
export function listedIn(list: Text, spot: Spot): Text[] {
  const text = textOf(list);
  return text === "-" || descriptorOf(text) !== undefined ? namesInFlow(contentOf(list, spot)) : [];
}

/** Options whose file is what a program works on, and not what it does. */
const GIVES_DATA =
  /^--?(?:.*[-_])?(?:i|in|input|infile|data|body|text|message|stdin|values?|var|vars|diff|patch|left|right|old|new)(?:[-_]?file)?$/;
/** Letters by which programs take a file with what to do. */
const INSTRUCTS = /^-(?:[A-Za-z]*[fxcsSCE@]|init|config|script|file)$/;
const LISTS = /^-{0,2}files?0?-from$/;

export const isList = (option: string): boolean => LISTS.test(option);

/** Where in an argument a name begins that is not a file but what a process writes, or a descriptor. */
function channelIn(arg: Text): number {
  if (arg.type !== "known" || !arg.text.includes("/")) return -1;
  const { text } = arg;
  const start = text.includes("/dev/") ? text.indexOf("/dev/") : text.indexOf("/proc/");
  return start >= 0 && descriptorOf(text.slice(start)) !== undefined ? start : -1;
}

/** Programs that are told what to do, or what to read, by something that is not in a file: `foo --config=<(…)`. */
export function noteInstructed(name: string, args: readonly Text[], spot: Spot): void {
  for (let at = 0; at < args.length; at += 1) {
    const start = channelIn(args[at] as Text);
    if (start < 0) continue;
    const text = textOf(args[at] as Text);
    const path = text.slice(start);
    const option = start > 0 ? text.slice(0, start).replace(/=$/, "") : textOf(args[at - 1] ?? known(""));
    const isInstructing = option.startsWith("--") ? !GIVES_DATA.test(option) : INSTRUCTS.test(option) || option === "@";
    if (isList(option)) noteSecrets(listedIn(known(path), spot), spot);
    else if (isInstructing && !isFile(path, spot))
      noteEffect(spot, {
        kind: "code",
        what: `gives ${name} what it is to do in something that is not a file: ${option}`,
        instead: "Write it to a file in the worktree, and name that.",
      });
  }
}

/** Whether a file is read there as it is, or nothing: `>(…)` is where a program writes. */
function isFile(path: string, spot: Spot): boolean {
  const channel = spot.shell.channels.get(descriptorOf(path) ?? "");
  const { text, from } = contentOf(known(path), spot);
  return (channel?.writes !== undefined && !channel.reads) || (text === undefined && from === FROM.files);
}
