/** One way to write a word, with what must stand before the command. */
export type Spelling = (word: string, fresh: () => string) => { readonly before?: string; readonly text: string };

export const PLAIN = /^[\w@%+=:,./-]+$/;

export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
export const plain = (word: string): string => (PLAIN.test(word) ? word : quoted(word));
const half = (word: string): [string, string] => [word.slice(0, 1), word.slice(1)];
const coded = (word: string, code: (char: number) => string): string =>
  `$'${[...Buffer.from(word)].map(code).join("")}'`;

export const SPELLINGS: Readonly<Record<string, Spelling>> = {
  plain: (word) => ({ text: plain(word) }),
  "single quotes": (word) => ({ text: quoted(word) }),
  "double quotes": (word) => ({ text: `"${word.replace(/[\\"$`]/g, "\\$&")}"` }),
  backslashes: (word) => ({ text: word.replace(/./gs, "\\$&") }),
  "quotes inside": (word) => ({ text: half(word).map(quoted).join('""') }),
  hexadecimal: (word) => ({ text: coded(word, (char) => `\\x${char.toString(16).padStart(2, "0")}`) }),
  octal: (word) => ({ text: coded(word, (char) => `\\${char.toString(8).padStart(3, "0")}`) }),
  variable: (word, fresh) => {
    const name = fresh();
    return { before: `${name}=${quoted(word)}`, text: `"$${name}"` };
  },
  "two variables": (word, fresh) => {
    const [one, other] = [fresh(), fresh()];
    const [start, rest] = half(word);
    return { before: `${one}=${quoted(start)} ${other}=${quoted(rest)}`, text: `"\${${one}}$${other}"` };
  },
  "appended variable": (word, fresh) => {
    const name = fresh();
    const [start, rest] = half(word);
    return { before: `${name}=${quoted(start)}; ${name}+=${quoted(rest)}`, text: `"$${name}"` };
  },
  exported: (word, fresh) => {
    const name = fresh();
    return { before: `export ${name}=${quoted(word)}`, text: `"\${${name}}"` };
  },
  "element of an array": (word, fresh) => {
    const name = fresh();
    return { before: `${name}=(x ${quoted(word)})`, text: `"\${${name}[1]}"` };
  },
  "default value": (word, fresh) => ({ text: `"\${${fresh()}:-${word.replace(/[\\"$`}]/g, "\\$&")}}"` }),
  "cut from a longer one": (word, fresh) => {
    const name = fresh();
    return { before: `${name}=${quoted(`x${word}y`)}`, text: `"\${${name}:1:${word.length}}"` };
  },
  "without its beginning": (word, fresh) => {
    const name = fresh();
    return { before: `${name}=${quoted(`zz${word}`)}`, text: `"\${${name}#zz}"` };
  },
  "another name": (word, fresh) => {
    const [name, other] = [fresh(), fresh()];
    return { before: `${name}=${quoted(word)}; ${other}=${name}`, text: `"\${!${other}}"` };
  },
  "read from a string": (word, fresh) => {
    const name = fresh();
    return { before: `read -r ${name} <<< ${quoted(word)}`, text: `"$${name}"` };
  },
  "read as the second word": (word, fresh) => {
    const name = fresh();
    const value = /\s/.test(word) ? word : `echo ${word}`;
    return {
      before: `read -r ${/\s/.test(word) ? "" : `${fresh()} `}${name} <<< ${quoted(value)}`,
      text: `"$${name}"`,
    };
  },
  "read with backslashes": (word, fresh) => {
    const name = fresh();
    return { before: `read ${name} <<< ${quoted(word.replace(/./gs, "\\$&"))}`, text: `"$${name}"` };
  },
  printed: (word, fresh) => {
    const name = fresh();
    return { before: `printf -v ${name} %s ${quoted(word)}`, text: `"$${name}"` };
  },
  substituted: (word) => ({ text: `"$(printf %s ${quoted(word)})"` }),
  "substituted the old way": (word) => ({ text: `"\`printf %s ${plain(word).replace(/[\\`$]/g, "\\$&")}\`"` }),
  positional: (word, fresh) => {
    const name = fresh();
    return { before: `${name}() { printf %s "$2"; }`, text: `"$(${name} x ${quoted(word)})"` };
  },
};
