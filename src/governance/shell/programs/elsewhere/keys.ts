import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { contentOf, reads, store, writes } from "../../paths.ts";
import type { Spot } from "../../state/state.ts";
import { cameFrom, FROM, OUTPUT } from "../../values/flow.ts";
import { known, textOf } from "../../values/text.ts";

const inHome = (name: string, spot: Spot) => known(`${spot.line.place.home}/${name}`);

/** Stores of keys and passwords give them to what asks. */
export const readsKeys: Behaviour = ({ args, spot }) => {
  if (/^(?:--version|--help|-h)$/.test(textOf(args[0] ?? known("")))) return OUTPUT;
  reads(spot, inHome(".password-store", spot));
  return cameFrom(FROM.secret);
};

const CHANGES_KEYS = /^--(?:import|delete|gen-key|generate-key|full-gen|quick-|edit-key|recv-keys|refresh|sign-key)/;

export const gpg: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "o output u local-user r recipient homedir keyserver", long: "decrypt" });
  const words = args.map(textOf);
  // What was encrypted is a secret, and is decrypted with one.
  const isOpened = given.has("d", "decrypt") || words.some((word) => /^--(?:export-secret|export-ssh)/.test(word));
  if (isOpened) reads(spot, inHome(".gnupg", spot));
  if (words.some((word) => CHANGES_KEYS.test(word))) writes(spot, inHome(".gnupg", spot));
  const [file] = given.operands;
  const flow = file ? contentOf(file, spot) : spot.input;
  const made = cameFrom(given.has("d", "decrypt") ? flow.from | FROM.decoded : flow.from | FROM.program);
  for (const target of given.values("o", "output")) store(target, made, { spot });
  return made;
};

/** Makes keys, unless it only shows what they are. */
export const sshKeygen: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "f t b C N P F R H Y n I s z V O r a" });
  const [file] = given.values("f");
  if (given.has("l", "B", "F")) return OUTPUT;
  if (given.has("y")) reads(spot, file ?? inHome(".ssh/id_rsa", spot));
  else writes(spot, file ?? inHome(".ssh/id_rsa", spot));
  return OUTPUT;
};
