import { isUnseenIn } from "./unseen-characters.ts";

/** What is wrong with a file of signers, for people. */
export interface SignersProblem {
  /** From 1; absent when it is the file as a whole. */
  readonly line?: number;
  readonly why: string;
}

/** More than the keys of any team. */
export const MAX_SIGNERS = 256 * 1024;

const KEY_TYPE =
  /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)$/;
const OPTION = /^(?:cert-authority|namespaces="[^"]+"|valid-(?:after|before)="(?:\d{8}|\d{12}|\d{14})Z?")(?:,|$)/i;
/** Principals, then options if there are any, then the key: blanks count only outside of quotes. */
const WORD = /^((?:"[^"]*"|[^ \t"])+)(?:[ \t]+|$)/;

/**
 * The first thing that ssh would not understand in a file of allowed signers; undefined if there is none. ssh itself passes over such a
 * line, and people would believe that it counts.
 */
export function signersProblem(text: string): SignersProblem | undefined {
  if (text.length > MAX_SIGNERS) return { why: `it is longer than ${MAX_SIGNERS / 1024} KB` };
  let signers = 0;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    // Not `trim`: what else it takes for blank is a part of the name to ssh.
    const entry = line.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, "");
    if (entry === "" || entry.startsWith("#")) continue;
    const why = entryProblem(entry);
    if (why !== undefined) return { line: index + 1, why };
    signers += 1;
  }
  return signers === 0 ? { why: "it names no signer" } : undefined;
}

function entryProblem(entry: string): string | undefined {
  const [, principals] = WORD.exec(entry) ?? [];
  if (principals === undefined) return "its quotes do not match";
  if (isUnseenIn(principals)) return "its principals have characters that cannot be seen";
  let rest = entry.slice(principals.length).trimStart();
  const [, first = ""] = WORD.exec(rest) ?? [];
  if (!KEY_TYPE.test(first)) {
    const unknown = unknownOption(first);
    if (unknown !== undefined) return `it has neither a key nor an option behind its principals: ${unknown}`;
    rest = rest.slice(first.length).trimStart();
  }
  // Of a certificate the name is in the certificate.
  if (/[*?!]/.test(principals) && !/(?:^|,)cert-authority(?:,|$)/i.test(first))
    return `${principals} is a pattern, and what is decided stands under a name`;
  const [type = "", key = ""] = rest.split(/\s+/);
  if (!KEY_TYPE.test(type)) return type === "" ? "it has no key" : `ssh has no type of keys like ${type}`;
  return isKeyOf(type, key) ? undefined : `its key is not one of the type ${type}`;
}

function unknownOption(options: string): string | undefined {
  let rest = options;
  while (rest !== "") {
    const [found] = OPTION.exec(rest) ?? [];
    if (found === undefined) return rest;
    rest = rest.slice(found.length);
  }
  return options === "" ? "nothing" : undefined;
}

/** A key begins with its own type. */
function isKeyOf(type: string, key: string): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(key)) return false;
  const bytes = Buffer.from(key, "base64");
  const length = bytes.length < 4 ? 0 : bytes.readUInt32BE(0);
  return bytes.subarray(4, 4 + length).toString("latin1") === type && bytes.length > 4 + length;
}
